// Closes a window like the button in its frame, by WM_DELETE_WINDOW (ICCCM 4.2.8.1). Without a window manager no
// other program can send that, so this file implements the required part of the X11 protocol. Also detects hidden
// windows.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createConnection } from "node:net";

const GET_WINDOW_ATTRIBUTES = 3;
const INTERN_ATOM = 16;
const GET_PROPERTY = 20;
const QUERY_TREE = 15;
const SEND_EVENT = 25;
const CLIENT_MESSAGE = 33;
const WM_NAME = 39;
/** Map state of a window that is visible together with all of its ancestors (`IsViewable`). */
const VIEWABLE = 2;

/** Closes the window with this title, on the display that the environment specifies. */
export async function closeWindow(title) {
  await onDisplay(async (connection) => {
    const [protocols, deleteWindow] = [await atom(connection, "WM_PROTOCOLS"), await atom(connection, "WM_DELETE_WINDOW")];
    const window = await find(connection, title);
    if (window === null) throw new Error(`there is no window "${title}"`);
    const event = Buffer.alloc(32);
    event[0] = CLIENT_MESSAGE;
    event[1] = 32;
    uint32(window, protocols, deleteWindow, 0).copy(event, 4);
    connection.send(SEND_EVENT, 0, uint32(window, 0), event);
    // A reply to a later request proves that the message was sent.
    await connection.sendRequest(QUERY_TREE, 0, uint32(connection.root));
  });
}

/** Returns `true` if the window with this title exists and is not hidden. */
export async function isShown(title) {
  return await onDisplay(async (connection) => {
    const window = await find(connection, title);
    if (window === null) return false;
    return (await connection.sendRequest(GET_WINDOW_ATTRIBUTES, 0, uint32(window)))[26] === VIEWABLE;
  });
}

async function onDisplay(act) {
  const connection = await connect(process.env.DISPLAY ?? "");
  try {
    return await act(connection);
  } finally {
    connection.close();
  }
}

async function atom(connection, name) {
  const lengths = Buffer.alloc(4);
  lengths.writeUInt16LE(name.length);
  return (await connection.sendRequest(INTERN_ATOM, 0, lengths, padded(Buffer.from(name)))).readUInt32LE(8);
}

/** Returns the window with this title that accepts WM_DELETE_WINDOW, or `null` if there is none. */
async function find(connection, title) {
  const protocols = await atom(connection, "WM_PROTOCOLS");
  const tree = await connection.sendRequest(QUERY_TREE, 0, uint32(connection.root));
  for (let at = 32; at < 32 + 4 * tree.readUInt16LE(16); at += 4) {
    const window = tree.readUInt32LE(at);
    const has = async (property) => {
      const reply = await connection.sendRequest(GET_PROPERTY, 0, uint32(window, property, 0, 0, 64));
      return reply.subarray(32, 32 + (reply.readUInt32LE(16) * reply[1]) / 8);
    };
    if ((await has(WM_NAME)).toString() === title && (await has(protocols)).length > 0) return window;
  }
  return null;
}

async function connect(display) {
  const number = /:(\d+)/.exec(display)?.[1];
  if (number === undefined) throw new Error(`no display in "${display}"`);
  const socket = createConnection(`/tmp/.X11-unix/X${number}`);
  await once(socket, "connect");
  const cookie = cookieOf(number);
  const name = Buffer.from(cookie ? "MIT-MAGIC-COOKIE-1" : "");
  const setup = Buffer.alloc(12);
  setup.write("l");
  setup.writeUInt16LE(11, 2);
  setup.writeUInt16LE(name.length, 6);
  setup.writeUInt16LE(cookie?.length ?? 0, 8);
  socket.write(Buffer.concat([setup, padded(name), padded(cookie ?? Buffer.alloc(0))]));
  const read = reader(socket);
  const head = await read(8);
  const remainder = await read(4 * head.readUInt16LE(6));
  if (head[0] !== 1) throw new Error(`the display refuses: ${remainder}`);
  const root = remainder.readUInt32LE(32 + Math.ceil(remainder.readUInt16LE(16) / 4) * 4 + 8 * remainder[21]);
  const send = (opcode, detail, ...parts) => {
    const body = Buffer.concat(parts);
    const start = Buffer.from([opcode, detail, 0, 0]);
    start.writeUInt16LE(1 + body.length / 4, 2);
    socket.write(Buffer.concat([start, body]));
  };
  const sendRequest = async (...request) => {
    send(...request);
    for (;;) {
      const first = await read(32);
      if (first[0] === 0) throw new Error(`X error ${first[1]}`);
      if (first[0] === 1) return Buffer.concat([first, await read(4 * first.readUInt32LE(4))]);
    }
  };
  return { root, send, sendRequest, close: () => socket.destroy() };
}

/** Returns a function that reads an exact number of bytes from a socket. */
function reader(socket) {
  let buffered = Buffer.alloc(0);
  const chunks = socket[Symbol.asyncIterator]();
  return async (count) => {
    while (buffered.length < count) {
      const { value, done } = await chunks.next();
      if (done) throw new Error("the display has closed the connection");
      buffered = Buffer.concat([buffered, value]);
    }
    const bytes = buffered.subarray(0, count);
    buffered = buffered.subarray(count);
    return bytes;
  };
}

/**
 * Returns the authentication data for a display, an entry of the file XAUTHORITY. Empty if the display requires none.
 */
function cookieOf(display) {
  let file;
  try {
    file = readFileSync(process.env.XAUTHORITY ?? "");
  } catch {
    return null;
  }
  for (let at = 0; at < file.length; ) {
    at += 2;
    const [, number, name, data] = Array.from({ length: 4 }, () => {
      const length = file.readUInt16BE(at);
      at += 2 + length;
      return file.subarray(at - length, at);
    });
    if (name.toString() === "MIT-MAGIC-COOKIE-1" && ["", display].includes(number.toString())) return data;
  }
  return null;
}

function uint32(...values) {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32LE(value, 4 * index));
  return bytes;
}

function padded(bytes) {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}
