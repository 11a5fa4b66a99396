"""The stand-ins of the model makers: every name resolves to loopback, where a TLS server answers for any of them with a
certificate of its own authority and writes down what it was asked."""

import base64
import gzip
import hashlib
import http.server
import json
import pathlib
import socketserver
import ssl
import struct
import subprocess
import threading
import zlib

from . import replies

KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
# No conversation here takes more.
MESSAGES = 20
WEBSOCKET = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Authority:
    """Certificates for whatever name a program asks for."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(exist_ok=True)
        self.lock = threading.Lock()
        self.contexts = {}

    @property
    def certificate(self):
        return self.folder / "ca.pem"

    def create(self):
        extensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"]
        added = [option for extension in extensions for option in ("-addext", extension)]
        named = ["-subj", "/CN=compare-stock", "-days", "2"]
        self.openssl("req", "-x509", *KEY, *named, *added, "-keyout", "ca.key", "-out", "ca.pem")
        self.issue("localhost", hashlib.sha256(b"localhost").hexdigest()[:16])

    def context_for(self, host):
        with self.lock:
            if host not in self.contexts:
                self.contexts[host] = self.new_context(host)
            return self.contexts[host]

    def new_context(self, host):
        name = hashlib.sha256(host.encode()).hexdigest()[:16]
        if not (self.folder / f"{name}.pem").exists():
            self.issue(host, name)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / f"{name}.pem", self.folder / f"{name}.key")
        context.set_alpn_protocols(["http/1.1"])
        return context

    def issue(self, host, name):
        extensions = f"subjectAltName=DNS:{host}\nextendedKeyUsage=serverAuth\nbasicConstraints=CA:FALSE\n"
        (self.folder / f"{name}.ext").write_text(extensions)
        self.openssl("req", *KEY, "-subj", "/CN=stand-in", "-keyout", f"{name}.key", "-out", f"{name}.csr")
        signed_by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "1"]
        self.openssl("x509", "-req", "-in", f"{name}.csr", *signed_by, "-extfile", f"{name}.ext", "-out", f"{name}.pem")

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)


class Record:
    """What was asked, in order; one list a run."""

    def __init__(self):
        self.lock = threading.Lock()
        self.take()

    def take(self):
        with self.lock:
            taken = getattr(self, "requests", []), getattr(self, "names", [])
            self.requests, self.names = [], []
            return taken

    def request(self, **fields):
        with self.lock:
            self.requests.append(fields)

    def name(self, name):
        with self.lock:
            if name not in self.names:
                self.names.append(name)


def names_server(record):
    """Answers every question for an IPv4 address with loopback (RFC 1035)."""

    class Question(socketserver.BaseRequestHandler):
        def handle(self):
            data, sock = self.request
            labels, at = [], 12
            while data[at]:
                labels.append(data[at + 1 : at + 1 + data[at]].decode("ascii", "replace"))
                at += 1 + data[at]
            end = at + 5
            (kind,) = struct.unpack("!H", data[at + 1 : at + 3])
            record.name(".".join(labels))
            address = kind == 1
            answer = b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 60, 4) + bytes([127, 0, 0, 1]) if address else b""
            head = data[:2] + struct.pack("!HHHHH", 0x8180, 1, int(address), 0, 0)
            sock.sendto(head + data[12:end] + answer, self.client_address)

    return serve(socketserver.ThreadingUDPServer(("127.0.0.1", 53), Question))


def makers_server(record, authority, websockets):
    """Answers for every host on port 443."""
    handler = type("Handler", (Answer,), {"record": record, "websockets": websockets})

    class Server(http.server.ThreadingHTTPServer):
        def finish_request(self, request, address):
            asked = []

            def choose(connection, host, _context):
                asked.append(host)
                connection.context = authority.context_for(host or "localhost")

            context = authority.new_context("localhost")
            context.sni_callback = choose
            try:
                secured = context.wrap_socket(request, server_side=True)
            except OSError as error:
                record.request(host=(asked or [None])[0], method="TLS", path=str(error), headers=[], body=None)
                return
            with secured:
                handler(secured, address, self)

        def handle_error(self, _request, _address):
            # A program that ends drops its connections.
            pass

    return serve(Server(("127.0.0.1", 443), handler))


def serve(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


class Answer(http.server.BaseHTTPRequestHandler):
    """One connection to a maker."""

    protocol_version = "HTTP/1.1"
    record = None
    websockets = True

    def handle_any(self):
        body = self.read_body()
        host = self.headers.get("host", "")
        parsed = parse(body)
        if self.websockets and self.headers.get("upgrade", "").lower() == "websocket":
            return self.websocket(host)
        self.note(host, parsed)
        path = self.path.split("?")[0]
        if self.command == "POST" and path == "/v1/messages" and isinstance(parsed, dict):
            message, events = replies.anthropic(parsed)
            return self.events(events) if parsed.get("stream") else self.json(200, message)
        if self.command == "POST" and path == "/v1/messages/count_tokens":
            return self.json(200, {"input_tokens": 100})
        if self.command == "POST" and path == "/v1/responses" and isinstance(parsed, dict):
            return self.events(replies.openai(parsed, 1))
        if self.command in ("GET", "HEAD") and path == "/v1/models":
            return self.json(200, {"object": "list", "data": [], "models": []})
        return self.json(404, {"type": "error", "error": {"type": "not_found_error", "message": "no such thing here"}})

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = handle_any

    def note(self, host, body, **more):
        headers = [(name, value) for name, value in self.headers.items()]
        self.record.request(host=host, method=self.command, path=self.path, headers=headers, body=body, **more)

    def read_body(self):
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
        coding = self.headers.get("content-encoding")
        if coding == "gzip":
            return gzip.decompress(body)
        if coding == "deflate":
            return zlib.decompress(body)
        if coding == "zstd":
            return subprocess.run(["zstd", "-dc"], input=body, capture_output=True, check=False).stdout
        return body

    def json(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def events(self, events):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in events:
            text = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        self.wfile.write(b"0\r\n\r\n")

    def websocket(self, host):
        """RFC 6455, without extensions."""
        key = self.headers.get("sec-websocket-key", "")
        self.note(host, None, websocket=True)
        self.send_response_only(101)
        self.send_header("upgrade", "websocket")
        self.send_header("connection", "Upgrade")
        accept = hashlib.sha1((key + WEBSOCKET).encode()).digest()
        self.send_header("sec-websocket-accept", base64.b64encode(accept).decode())
        self.end_headers()
        self.close_connection = True
        said, number = [], 0
        while (text := self.message()) is not None and number < MESSAGES:
            number += 1
            request = parse(text)
            self.record.request(host=host, method="WS", path=self.path, headers=[], body=request)
            # Each message holds only what came on top of the last one and its answer.
            said += request.get("input", [])
            for event in replies.openai({**request, "input": said}, number):
                self.frame(1, json.dumps(event).encode())
                said += event.get("response", {}).get("output", [])

    def message(self):
        whole = b""
        while True:
            head = self.rfile.read(2)
            if len(head) < 2:
                return None
            final, kind, size = head[0] & 0x80, head[0] & 0x0F, head[1] & 0x7F
            if size == 126:
                (size,) = struct.unpack("!H", self.rfile.read(2))
            elif size == 127:
                (size,) = struct.unpack("!Q", self.rfile.read(8))
            mask = self.rfile.read(4) if head[1] & 0x80 else bytes(4)
            data = self.rfile.read(size)
            data = bytes(byte ^ mask[index % 4] for index, byte in enumerate(data))
            if kind == 8:
                return None
            if kind == 9:
                self.frame(10, data)
                continue
            if kind == 10:
                continue
            whole += data
            if final:
                return whole

    def frame(self, kind, data):
        size = len(data)
        if size < 126:
            head = struct.pack("!BB", 0x80 | kind, size)
        elif size < 65536:
            head = struct.pack("!BBH", 0x80 | kind, 126, size)
        else:
            head = struct.pack("!BBQ", 0x80 | kind, 127, size)
        self.wfile.write(head + data)
        self.wfile.flush()

    def log_message(self, *_arguments):
        pass


def parse(body):
    if not body:
        return None
    try:
        return json.loads(body)
    except ValueError:
        return f"{len(body)} bytes"

