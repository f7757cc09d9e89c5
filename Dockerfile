# The local stack for systems that it does not run on by itself: Debian 12, Node 20, and the steps of the README.
FROM node:20-bookworm

WORKDIR /schemaless
COPY . .
# Brings the dependencies and a MySQL server, as the first start does by itself.
RUN node infra/setup/prepare.mjs --engine

# The API listens on the loopback interface alone: run it with `--network host`, or ask from within.
CMD ["npm", "start"]
