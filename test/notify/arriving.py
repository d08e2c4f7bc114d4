"""What the programs share that send messages by a channel to a service of theirs."""
import json
import os
import subprocess

SENDER = os.environ["OWED_MAIL_SENDER"]
FAILED, SENT, WAIT, REFUSED, GONE = range(5)
ID = "0123456789abcdef0123456789abcdef"


def ask(settings, messages):
    """What came of each message."""
    words = (f"{key}={value}" for key, value in settings.items())
    done = subprocess.run([SENDER, *words], input="".join(json.dumps(one) + "\n" for one in messages), capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stderr) == (0, ""), done
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(messages), done.stdout
    return answers


def certificate(folder):
    """A key and a certificate of localhost, in two files of these names."""
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", f"{folder}/key", "-out",
                    f"{folder}/cert"], check=True, capture_output=True)
