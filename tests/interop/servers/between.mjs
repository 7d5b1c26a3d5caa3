// Starts a server and spoils the lines that it writes: `between.mjs bytewise|twice|late FILE PROGRAM ARGUMENT...`. What is
// written to the server is kept in FILE.

import { spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [fault, file, program, ...args] = process.argv.slice(2);
const server = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
server.on('exit', code => process.exit(code ?? 1));
process.stdin.on('data', data => {
    appendFileSync(file, data);
    server.stdin.write(data);
});
process.stdin.on('end', () => server.stdin.end());

let turn = Promise.resolve();
createInterface({ input: server.stdout }).on('line', line => {
    turn = turn.then(() => spoil(`${line}\n`));
});

async function spoil(line) {
    if (fault === 'late') await new Promise(done => setTimeout(done, 300));
    // Only answers: a question that comes twice is another question.
    if (fault === 'twice' && 'result' in JSON.parse(line)) process.stdout.write(line);
    if (fault !== 'bytewise') return void process.stdout.write(line);
    for (const byte of Buffer.from(line)) await new Promise(done => process.stdout.write(Buffer.of(byte), done));
}
