"""A web site for a client that fetches pages: on loopback, over https, with its own certificate."""

import datetime
import ipaddress
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

# The client does not fetch from a host name without a dot, such as localhost.
HOST = "127.0.0.1"


class Site:
    """Serves one page at every path, and records the requested paths."""

    def __init__(self, place: Path, page: str) -> None:
        self.certificate = place / "site.pem"
        self.page = page.encode()
        self.visited: list[str] = []
        self._server = _Server((HOST, 0), _Handler)
        self._server.site = self
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, _make_certificate(self.certificate))
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def url(self, path: str) -> str:
        return f"https://{HOST}:{self._server.server_address[1]}{path}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    site: Site

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that does not trust the certificate and disconnects."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        site = self.server.site
        site.visited.append(self.path)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(site.page)))
        self.end_headers()
        self.wfile.write(site.page)

    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the requests are in `Site.visited`."""


def _make_certificate(place: Path) -> Path:
    """Write a self-signed certificate, valid for a day; return the path of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, HOST)])
    now = datetime.datetime.now(datetime.UTC)
    day = datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - day)
        .not_valid_after(now + day)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(HOST))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    place.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret = place.with_suffix(".key")
    secret.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return secret
