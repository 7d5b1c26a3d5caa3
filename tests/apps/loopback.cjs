// Preloaded into a server that listens on every network interface of the computer: it listens on loopback only, and
// prints its port.
const { Server } = require("node:net");

const { listen } = Server.prototype;

Server.prototype.listen = function (...args) {
  // Express passes only a port and a callback.
  const [port] = args;
  const callback = args.find((arg) => typeof arg === "function");
  if (typeof port !== "number") return listen.apply(this, args);
  this.once("listening", () => console.log(`port ${this.address().port}`));
  return listen.call(this, { port, host: "127.0.0.1" }, callback);
};
