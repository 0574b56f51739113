# The image of florin-proxy: one static program, the certificates of authorities, and a folder for its database.
#
#   docker build --tag florin .
#   docker run --read-only --publish 8080:8080 --volume florin:/var/lib/florin \
#     --volume ./florin.toml:/etc/florin/florin.toml:ro florin
#
# florin.toml must be readable by user 65532 alone: chown 65532 florin.toml && chmod 600 florin.toml

# Compiles the widget and the proxy: about 15 minutes on two cores.
FROM docker.io/library/rust:1.95.0-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates musl-tools
WORKDIR /florin
COPY . .
RUN cargo run --locked --package florin-release -- --image /image

FROM scratch
COPY --from=build /image/root /
COPY --from=build --chown=65532:65532 /image/state /var/lib
USER 65532:65532
# The admin listener stays on the container's loopback; FLORIN_ADMIN_LISTEN=0.0.0.0:9090 lets Prometheus and probes in.
ENV FLORIN_LISTEN=0.0.0.0:8080 \
    FLORIN_DATABASE_URL=sqlite:///var/lib/florin/florin.db
VOLUME /var/lib/florin
EXPOSE 8080
STOPSIGNAL SIGTERM
# Asks /health/ready at admin_listen, which it reads where the proxy does.
HEALTHCHECK --interval=5s --timeout=6s --start-period=60s --retries=3 \
    CMD ["/bin/florin-proxy", "--config", "/etc/florin/florin.toml", "health"]
ENTRYPOINT ["/bin/florin-proxy", "--config", "/etc/florin/florin.toml"]
