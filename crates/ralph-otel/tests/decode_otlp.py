"""Decodes bodies of OTLP/HTTP requests with the messages of `opentelemetry-proto`.

Usage: decode_otlp.py FILE...   prints one JSON object: the number of requests, spans and bytes as protobuf.

Strict: a field that the protocol does not have, a value of another type or a number out of range is an error. Only the ids
are rewritten before: OTLP writes them in hexadecimal, where protobuf's own JSON has base64.
"""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

LENGTHS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def to_base64(value):
    """The same body with its ids as protobuf's JSON expects them."""
    if isinstance(value, list):
        return [to_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    body = {}
    for key, item in value.items():
        if key in LENGTHS:
            raw = bytes.fromhex(item)
            assert item == item.lower() and len(raw) == LENGTHS[key] and any(raw), f"{key}: {item}"
            body[key] = base64.b64encode(raw).decode()
        else:
            body[key] = to_base64(item)
    return body


def spans_of(request):
    return [span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans]


def main(files):
    total = {"requests": 0, "spans": 0, "protobuf_bytes": 0}
    for file in files:
        with open(file, "rb") as body:
            sent = to_base64(json.load(body))
        request = json_format.ParseDict(sent, ExportTraceServiceRequest())
        # Everything that was sent is in the message, and nothing else.
        again = json_format.MessageToDict(request, use_integers_for_enums=True)
        assert again == sent, f"{file}: differs after decoding"
        for span in spans_of(request):
            assert span.name and span.kind in (1, 3), span
            assert span.start_time_unix_nano <= span.end_time_unix_nano, span
            assert all(entry.value.WhichOneof("value") for entry in span.attributes), span
        total["requests"] += 1
        total["spans"] += len(spans_of(request))
        total["protobuf_bytes"] += len(request.SerializeToString())
    print(json.dumps(total))


main(sys.argv[1:])
