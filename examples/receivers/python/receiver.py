# pip install "$FLORIN/packages/python" && WEBHOOK_SECRET=whsec_… python receiver.py
import http.server, os, pathlib
from florin_server import FlorinError, verify_webhook

known = set()  # A shop keeps the ids in its database.
class Receiver(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n" + pathlib.Path("shop.html").read_bytes())
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        try:
            event = verify_webhook(body, self.headers, os.environ["WEBHOOK_SECRET"])
        except FlorinError:  # Not signed by the proxy, or older than five minutes.
            return self.wfile.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        if event["id"] not in known and event["type"] == "order.paid":
            print(event["data"]["order"]["id"], "is paid", flush=True)
        known.add(event["id"])
        self.wfile.write(b"HTTP/1.0 204 No Content\r\n\r\n")
http.server.HTTPServer(("127.0.0.1", int(os.environ.get("PORT", 3000))), Receiver).serve_forever()
