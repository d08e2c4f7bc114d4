"""Check a Standard Webhooks signature with nothing but Python: SECRET ID TIMESTAMP SIGNATURE < body."""
import base64
import hashlib
import hmac
import sys

secret, key, timestamp, signature = sys.argv[1:5]
body = sys.stdin.buffer.read()
secret = base64.b64decode(secret.removeprefix("whsec_"))
mac = hmac.new(secret, f"{key}.{timestamp}.".encode() + body, hashlib.sha256).digest()
wanted = "v1," + base64.b64encode(mac).decode()
sys.exit(0 if any(hmac.compare_digest(wanted, entry) for entry in signature.split(" ")) else 1)
