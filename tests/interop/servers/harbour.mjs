// Example data of a harbour that both TypeScript servers offer, independent of the SDK version.

import { readFileSync } from 'node:fs';

export const data = JSON.parse(readFileSync(new URL('./harbour.json', import.meta.url), 'utf8'));

/** Icon with a chart, for the server and for the first entry of each list. */
export const icons = [{ src: `data:image/png;base64,${data.chart}`, mimeType: 'image/png' }];
for (const list of ['tools', 'prompts', 'resources']) data[list][0].icons = icons;

const tools = data.tools;
const notes = new Map([['log', 'Nothing happened.']]);

/** Functions that are called after changes, with the kind of change and, for a resource, its URI. */
export const watchers = new Set();

function announce(change, uri) {
    for (const watcher of watchers) watcher(change, uri);
}

/** Returns the page of a list that a request asks for, in the format of the protocol. */
export function page(name, request) {
    const all = name === 'tools' ? tools : data[name];
    const start = Number(request.params?.cursor ?? 0);
    const next = start + data.pageSize;
    const nextCursor = next < all.length ? String(next) : undefined;
    return { [name]: all.slice(start, next), ...(nextCursor && { nextCursor }) };
}

export function addTool(name) {
    tools.push({ name, description: 'Added while the server runs.', inputSchema: { type: 'object', properties: {} } });
    announce('tools');
}

export function writeNote(name, text) {
    notes.set(name, text);
    announce('resource', `note:///${name}`);
}

/** Returns the contents of a resource, or `undefined` if it does not exist. */
export function contents(uri) {
    if (uri === 'harbour:///welcome.txt') return { uri, mimeType: 'text/plain', text: 'Welcome to the harbour.' };
    if (uri === 'harbour:///chart.png') return { uri, mimeType: 'image/png', blob: data.chart };
    const text = uri.startsWith('note:///') ? notes.get(uri.slice('note:///'.length)) : undefined;
    return text === undefined ? undefined : { uri, mimeType: 'text/plain', text };
}

export function prompt(name, args) {
    const words = {
        greet_ship: () => `Greet the ${args.ship} in ${args.harbour}.`,
        safety_check: () => 'Go through the safety check.'
    }[name];
    return words && { messages: [{ role: 'user', content: text(words()) }] };
}

/** Returns the completions of an argument. Names of ships depend on the selected harbour. */
export function complete({ argument, context }) {
    const harbour = context?.arguments?.harbour;
    const known = {
        harbour: Object.keys(data.harbours),
        ship: harbour ? (data.harbours[harbour] ?? []) : Object.values(data.harbours).flat(),
        name: [...notes.keys()]
    }[argument.name];
    const values = (known ?? []).filter(value => value.toLowerCase().startsWith(argument.value.toLowerCase()));
    return { completion: { values, total: values.length, hasMore: false } };
}

export function text(text) {
    return { type: 'text', text };
}

export function textResult(words, more = {}) {
    return { content: [text(words)], ...more };
}

/** Returns the result of a tool that depends only on its arguments, or `undefined` for other tools. */
export function simple(name, args) {
    switch (name) {
        case 'add':
            return textResult(`${args.a} + ${args.b} = ${args.a + args.b}`, { structuredContent: { sum: args.a + args.b } });
        case 'fail':
            return textResult(`It did not work: ${args.reason}.`, { isError: true });
        case 'show_everything':
            return {
                content: [
                    text('Everything:'),
                    { type: 'image', data: data.chart, mimeType: 'image/png' },
                    { type: 'audio', data: data.bell, mimeType: 'audio/wav' },
                    { type: 'resource_link', ...data.resources[0] },
                    { type: 'resource', resource: contents('harbour:///welcome.txt') }
                ]
            };
        case 'add_tool':
            addTool(args.name);
            return textResult(`There is a new tool: ${args.name}`);
        case 'write_note':
            writeNote(args.name, args.text);
            return textResult(`Written: note:///${args.name}`);
    }
}

/** Simulates a long-running tool that reports progress until it has finished or is cancelled. */
export async function slowReport({ seconds = 1, steps = 4 }, signal, progress) {
    for (let step = 1; step <= steps; step++) {
        await new Promise(done => setTimeout(done, (seconds * 1000) / steps));
        if (signal.aborted) {
            console.error(`slow_report was cancelled before step ${step} of ${steps}`);
            return textResult('Cancelled.', { isError: true });
        }
        await progress({ progress: step, total: steps, message: `Page ${step} of ${steps}` });
    }
    return textResult(`The report has ${steps} pages.`);
}

/** Stores the events of streams, so that clients can resume them. */
export class EventStore {
    #events = [];

    async storeEvent(stream, message) {
        this.#events.push({ stream, message });
        return String(this.#events.length);
    }

    async getStreamIdForEventId(id) {
        return this.#events[Number(id) - 1]?.stream;
    }

    async replayEventsAfter(id, { send }) {
        const { stream } = this.#events[Number(id) - 1];
        for (let at = Number(id); at < this.#events.length; at++) {
            const event = this.#events[at];
            if (event.stream === stream && Object.keys(event.message).length > 0) await send(String(at + 1), event.message);
        }
        return stream;
    }
}

/** Listens on the port in the last command line argument, 0 for any free port, and prints the URL. */
export function listen(server) {
    server.listen(Number(process.argv.at(-1)), '127.0.0.1', () => {
        console.log(`http://127.0.0.1:${server.address().port}`);
    });
    // The parent process has ended.
    process.stdin.on('end', () => process.exit(0)).resume();
}
