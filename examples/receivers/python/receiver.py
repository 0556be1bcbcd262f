#!/usr/bin/env python3
"""A receiver of Strandline's webhooks, on the standard library alone (Python 3.9 or newer).

    WEBHOOK_SECRET=whsec_... python3 receiver.py --port 8000 --journal journal.jsonl

What a receiver has to do is in four functions, in the order in which they are called:

1. verify     is it from us, and not an old request that somebody plays again?
2. one_at_a_time    a request that timed out may still be worked on here when it comes again
3. is_new     was it handled before? Strandline delivers at least once
4. handle     the effect, and the record that it has taken place, in one step

This one's effect is a line in a journal. In a service of yours it is a transaction of your database: insert the
idempotency key into a table where it is unique, do what the event says, commit.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import socket
import sys
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Seconds by which the time of a request may differ from ours.
TOLERANCE = 300
# Bytes of a request; larger ones are refused before they are read.
LARGEST = 8 * 1024 * 1024


class Refused(Exception):
    """The request is not from us, or not from now."""


def verify(secrets, headers, body):
    """Checks signature and time as Standard Webhooks has them.

    The signature is of the bytes as they came: parse them only afterwards, and never sign what was parsed and
    written again. Several secrets, and several signatures in one header, are for the time in which a secret changes.
    """
    message_id = headers.get("webhook-id", "")
    timestamp = headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE:
        raise Refused("the timestamp is missing, or too far from now")
    content = f"{message_id}.{timestamp}.".encode() + body
    given = headers.get("webhook-signature", "").split(" ")
    for secret in secrets:
        key = base64.b64decode(secret[len("whsec_"):])
        expected = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
        # compare_digest takes the same time wherever the two differ.
        if any(hmac.compare_digest(expected.encode(), one.encode()) for one in given):
            return
    raise Refused("no signature is by one of the secrets")


class Orders:
    """What was handled, and how far each key is."""

    def __init__(self, path):
        self._lock = threading.Lock()
        self._locks = defaultdict(threading.Lock)
        self._handled = set()
        self._versions = {}
        self.counts = {"handled": 0, "duplicates": 0, "refused": 0, "outOfOrder": 0}
        self._journal = open(path, "a+", encoding="utf-8")
        self._journal.seek(0)
        for line in self._journal:
            self._remember(json.loads(line))

    def one_at_a_time(self, key):
        """Events of one key wait for each other: `with orders.one_at_a_time(key):`."""
        with self._lock:
            return self._locks[key]

    def is_new(self, idempotency_key):
        with self._lock:
            if idempotency_key not in self._handled:
                return True
            self.counts["duplicates"] += 1
            return False

    def handle(self, event):
        """The effect. Called once for each event, and in order for each key."""
        data = event["data"]
        # A version that your own application counts for each key says whether one is missing or comes too late. You
        # need not check it: the sender keeps the order. It is the way to see that it does.
        version = data.get("version") if isinstance(data, dict) else None
        line = {"idempotencyKey": event["idempotencyKey"], "key": event["key"], "version": version}
        with self._lock:
            last = self._versions.get(event["key"])
            if version is not None and last is not None and version <= last:
                self.counts["outOfOrder"] += 1
                print(f"out of order: {event['key']} version {version} after {last}", file=sys.stderr)
            self._journal.write(json.dumps(line) + "\n")
            self._journal.flush()
            self._remember(line)

    def count_refused(self):
        with self._lock:
            self.counts["refused"] += 1

    def _remember(self, line):
        self._handled.add(line["idempotencyKey"])
        if line["version"] is not None:
            self._versions[line["key"]] = line["version"]
        self.counts["handled"] += 1


class Flaky:
    """For trying things out: some requests fail, by their number, in the ways in which requests do."""

    def __init__(self, enabled):
        self._enabled = enabled
        self._lock = threading.Lock()
        self._requests = 0

    def next(self):
        with self._lock:
            self._requests += 1
            number = self._requests
        if not self._enabled:
            return "answer"
        if number % 40 == 5:
            return "busy"
        return {3: "fail", 7: "drop before", 9: "drop after"}.get(number % 10, "answer")


class Receiver(BaseHTTPRequestHandler):
    # Connections are kept, and an answer is not held back for more to come.
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # Seconds that a connection may be idle.
    timeout = 60

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        if length > LARGEST:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(length)
        orders, how = self.server.orders, self.server.flaky.next()
        if how == "fail":
            return self.answer(500)
        if how == "busy":
            return self.answer(429, {"retry-after": "1"})
        if how == "drop before":
            return self.drop()
        try:
            verify(self.server.secrets, self.headers, body)
        except Refused as reason:
            orders.count_refused()
            print(f"refused: {reason}", file=sys.stderr)
            return self.answer(401)
        # One event, or a batch of events of one key.
        message = json.loads(body)
        events = message if isinstance(message, list) else [message]
        for event in events:
            with orders.one_at_a_time(event["key"]):
                if orders.is_new(event["idempotencyKey"]):
                    orders.handle(event)
        return self.drop() if how == "drop after" else self.answer(204)

    def do_GET(self):
        """What was counted, for whoever looks."""
        body = json.dumps(self.server.orders.counts).encode()
        self.answer(200, {"content-type": "application/json"}, body)

    def answer(self, status, headers=None, body=b""):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def drop(self):
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        """Not a line for each request."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """A connection that breaks is no error of the receiver: the event comes again."""


def main():
    options = argparse.ArgumentParser(description="Receives Strandline's webhooks.")
    options.add_argument("--port", type=int, default=8000, help="0 takes a free one")
    options.add_argument("--journal", default="journal.jsonl", help="where what was handled is written")
    options.add_argument("--flaky", action="store_true", help="fail now and then, to see what follows")
    given = options.parse_args()
    secrets = os.environ.get("WEBHOOK_SECRET", "").split()
    if not secrets or not all(secret.startswith("whsec_") for secret in secrets):
        sys.exit("Set WEBHOOK_SECRET to the secret of the webhook, or to several with spaces in between.")

    server = Server(("127.0.0.1", given.port), Receiver)
    server.secrets = secrets
    server.orders = Orders(given.journal)
    server.flaky = Flaky(given.flaky)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
