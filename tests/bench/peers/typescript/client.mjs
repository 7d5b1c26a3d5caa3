// Client of the TypeScript SDK, measured like Drawbridge: client.mjs SCENARIO (--server PATH | --url URL).
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const WARM_UP_OPERATIONS = 200;
const OPERATIONS = {
    'stdio-seq': 5_000,
    'stdio-64': 20_000,
    'stdio-list-5000': 20,
    'stdio-big-10MB': 5,
    'stdio-progress-10000': 1,
    'http-seq-json': 2_000,
    'http-seq-sse': 2_000,
    'http-64': 5_000,
    'idle-200': 200
};

const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { server: { type: 'string' }, url: { type: 'string' } }
});
const scenario = positionals[0];
const n = OPERATIONS[scenario];
if (n === undefined) throw new Error(`unknown scenario ${scenario}`);

async function open() {
    const client = new Client({ name: 'bench', version: '1' });
    const tools = scenario === 'stdio-list-5000' ? '5000' : '3';
    const transport = values.url
        ? new StreamableHTTPClientTransport(new URL(values.url))
        : new StdioClientTransport({ command: values.server, args: ['stdio', '--tools', tools], maxBufferSize: 32 * 1024 * 1024 });
    await client.connect(transport);
    return client;
}

const echo = client => client.callTool({ name: 'echo', arguments: { text: 'hello' } });

async function run(client) {
    switch (scenario) {
        case 'stdio-list-5000':
            for (let i = 0; i < n; i++) {
                const { tools } = await client.listTools();
                if (tools.length !== 5_000) throw new Error(`the list has ${tools.length} tools`);
            }
            return;
        case 'stdio-big-10MB':
            for (let i = 0; i < n; i++) await client.callTool({ name: 'big', arguments: { bytes: 10 * 1024 * 1024 } });
            return;
        case 'stdio-progress-10000': {
            let counted = 0;
            await client.callTool(
                { name: 'progress', arguments: { count: 10_000 } },
                { onprogress: () => (counted += 1), resetTimeoutOnProgress: true }
            );
            return counted;
        }
        case 'stdio-64':
        case 'http-64': {
            let next = 0;
            const caller = async () => {
                while (next++ < n) await echo(client);
            };
            await Promise.all(Array.from({ length: 64 }, caller));
            return;
        }
        default:
            for (let i = 0; i < n; i++) await echo(client);
    }
}

const kilobytes = (file, word) => Number(new RegExp(`^${word}:\\s+(\\d+) kB`, 'm').exec(readFileSync(file, 'utf8'))[1]);
const pause = ms => new Promise(resolve => setTimeout(resolve, ms));

const clients = [await open()];
for (let i = 0; i < WARM_UP_OPERATIONS; i++) await echo(clients[0]);
const rollup = '/proc/self/smaps_rollup';
const memory = () => [kilobytes(rollup, 'Rss'), kilobytes(rollup, 'Pss')];
const extra = {};
let before;
if (scenario === 'idle-200') {
    await pause(1000);
    before = memory();
}
const cpu = process.cpuUsage();
const began = performance.now();
if (scenario === 'idle-200') {
    while (clients.length < n) clients.push(await open());
} else {
    const counted = await run(clients[0]);
    if (counted !== undefined) extra.counted = counted;
}
const seconds = (performance.now() - began) / 1000;
const used = process.cpuUsage(cpu);
if (before) {
    await pause(1000);
    [extra.rss_per_session_kb, extra.pss_per_session_kb] = memory().map((after, i) => (after - before[i]) / (n - 1));
}
console.log(
    JSON.stringify({
        scenario,
        n,
        seconds,
        user_cpu_s: used.user / 1e6,
        sys_cpu_s: used.system / 1e6,
        max_rss_kb: kilobytes('/proc/self/status', 'VmHWM'),
        ...extra
    })
);
await Promise.all(clients.map(client => client.close()));
process.exit(0);
