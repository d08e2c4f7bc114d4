"""nginx.py - a real HTTP server, on a free port of loopback: it keeps its connections, and answers 204 at once unless told."""
import contextlib
import os
import pathlib
import pwd
import shutil
import socket
import subprocess
import tempfile
import time

CONFIG = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/log warn;
events {{ worker_connections 4096; }}
http {{
    {http}
    keepalive_requests 1000000000;
    client_max_body_size 32m;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {server}
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


def start(program, folder, port, **servant):
    """Returns once it answers."""
    process = subprocess.Popen([program, "-e", f"{folder}/log", "-p", folder, "-c", f"{folder}/nginx.conf"], cwd="/",
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **servant)
    until = time.monotonic() + 10
    while not answers(port):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.01)
        if process.poll() is not None or time.monotonic() > until:
            process.kill()
            raise AssertionError(f"nginx does not start: {pathlib.Path(folder, 'log').read_text()}")
    return process


@contextlib.contextmanager
def nginx(server="location / { return 204; }", http="access_log off;", folder=None):
    """Its port. What is told may name files of the folder, an empty one, as FOLDER."""
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if program is None:
        raise AssertionError("nginx is not installed here (`tools/packages test` installs it)")
    servant = {}
    with tempfile.TemporaryDirectory(prefix="owed-nginx-") as own:
        folder = str(folder or own)
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            servant = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        port = free_port()
        path = pathlib.Path(folder) / "nginx.conf"
        path.write_text(CONFIG.format(folder=folder, port=port, http=http.replace("FOLDER", folder),
                                      server=server.replace("FOLDER", folder)))
        path.chmod(0o644)
        process = start(program, folder, port, **servant)
        try:
            yield port
        finally:
            process.terminate()
            process.wait(timeout=10)
