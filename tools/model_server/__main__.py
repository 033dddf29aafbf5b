"""A scripted model server for tests: real agent CLIs talk to it instead of a provider.

    python3 -B tools/model_server --workspace DIR [--host ADDRESS] [--port N] [--portfile FILE] [--log FILE]
        [--requests FILE] [--door FILE]

It speaks Anthropic Messages, OpenAI Responses, OpenAI Chat Completions and Gemini on one port, of 127.0.0.1 unless another
address is given. The first segment of a base URL names the scenario (`scenarios.py`), as in http://127.0.0.1:PORT/work, so that one server plays
every scenario to every client at once. Python's standard library is all it needs.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True

from server import ModelServer, Stage  # noqa: E402  (after the line above, or caches land in the repository)


def main():
    parser = argparse.ArgumentParser(prog="model_server", description="A scripted model server for tests.")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="port to listen on; any free one by default")
    parser.add_argument("--portfile", help="write the port here once it listens")
    parser.add_argument("--log", help="append one JSON line a request")
    parser.add_argument("--requests", help="append every request whole, for a look at what a client sends")
    parser.add_argument("--workspace", default=os.getcwd(), help="where the client works: tools want absolute paths")
    parser.add_argument("--door", help="scenarios that can be closed fail as long as this file exists")
    parser.add_argument("--plain", action="store_true", help="requests without tools are the work itself, not titles")
    args = parser.parse_args()
    stage = Stage(args.workspace, args.door, args.plain, args.log, args.requests)
    server = ModelServer((args.host, args.port), stage)
    if args.portfile:
        with open(args.portfile + ".new", "w") as file:
            file.write(str(server.server_address[1]))
        os.rename(args.portfile + ".new", args.portfile)
    server.serve_forever()


if __name__ == "__main__":
    main()
