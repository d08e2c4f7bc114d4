"""nginx.py - an HTTP server that answers 204 at once and keeps its connections, on a free port."""
import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

from prove import check, wait_a_moment

CONFIG = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/log warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_max_body_size 32m;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{ return 204; }}
    }}
}}
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


@contextlib.contextmanager
def nginx():
    """Its port."""
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    check(program, "nginx is not installed here (`tools/packages bench` installs it)")
    servant = {}
    with tempfile.TemporaryDirectory(prefix="owed-nginx-") as folder:
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            servant = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        port = free_port()
        path = pathlib.Path(folder) / "nginx.conf"
        path.write_text(CONFIG.format(folder=folder, port=port))
        path.chmod(0o644)
        process = subprocess.Popen([program, "-e", f"{folder}/log", "-p", folder, "-c", str(path)], cwd="/",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **servant)
        try:
            until = time.monotonic() + 10
            while not answers(port):
                check(process.poll() is None and time.monotonic() < until, "nginx does not start")
                wait_a_moment()
            yield port
        finally:
            process.terminate()
            process.wait(timeout=10)
