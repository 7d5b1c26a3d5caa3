// Listener on loopback that records each connection, over TCP and UDP on the same port.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

const RESPONSE = [
  "HTTP/1.1 200 OK",
  "Access-Control-Allow-Origin: *",
  "Content-Type: text/plain",
  "Content-Length: 0",
  "Connection: close",
  "\r\n",
].join("\r\n");

/** Starts the listener. Returns its port and the list of connections, to which later ones are added. */
export async function listen() {
  const connections = [];
  const server = createServer((socket) => {
    const index = connections.push("TCP without a request") - 1;
    socket.on("error", () => undefined);
    socket.once("data", (data) => {
      connections[index] = data.toString("latin1").split("\r\n")[0];
      socket.end(RESPONSE);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  const datagrams = createSocket("udp4");
  datagrams.on("message", (data) => connections.push(`UDP with ${data.length} bytes`));
  datagrams.bind(port, "127.0.0.1");
  await once(datagrams, "listening");
  const close = () => {
    server.close();
    datagrams.close();
  };
  return { port, connections, close };
}
