# A small image with a static ralph, git and certificates. It holds no agent and no toolchain: start your own image from
# it, or copy /usr/local/bin/ralph into the one your project is tested in.
#
#   docker build --tag ralph .
#   docker run --rm ralph demo
#   docker run --rm -it --volume "$PWD:/work" --user "$(id -u):$(id -g)" --env HOME=/tmp ralph run --dry-run
FROM rust:1.95-alpine AS build
RUN apk add --no-cache musl-dev
WORKDIR /src
COPY . .
RUN cargo build --profile dist --locked --package ralph && cp target/dist/ralph /ralph

FROM alpine:3.22
RUN apk add --no-cache ca-certificates git && adduser -D -u 10001 ralph && mkdir /work && chown ralph /work
COPY --from=build /ralph /usr/local/bin/ralph
COPY LICENSE-MIT LICENSE-APACHE /usr/share/licenses/ralph/
USER ralph
WORKDIR /work
ENTRYPOINT ["ralph"]
CMD ["--help"]
