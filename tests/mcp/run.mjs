// Programs that others wrote speak to `hippo mcp`: the MCP inspector's command line lists and calls every tool, over
// standard input and output and over HTTP; and the protocol's own memory server gets the same script of calls as
// our nine tools of a graph, result by result. Ends with 1 where something differs.
//
//     DATABASE_URL=postgres://… HIPPO=../../bin/hippo npm start
//
// The database must be at the schema, and may be thrown away after it: what is written stays there.
import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual, promisify } from 'node:util';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const hippo = resolve(process.env.HIPPO ?? '../../bin/hippo');
const folder = mkdtempSync(join(tmpdir(), 'hippocampus-mcp-'));
const user = `mcp-${process.pid}`;
const env = { ...process.env, HIPPOCAMPUS_MCP_TOKEN: 'a-token-of-this-check-0123' };
const run = promisify(execFile);
const problems = [];
const check = (ok, what) => { if (!ok) { problems.push(what); console.log(`  DIFFERS: ${what}`); } };

mkdirSync(join(folder, 'docs'));
writeFileSync(join(folder, 'docs', 'probes.md'), '# Liveness probe\n\nA liveness probe restarts a container that hangs.\n');
writeFileSync(join(folder, 'git.md'), 'Rebase before you push.\n');

// Every tool, with arguments, and what its answer says.
const calls = [
  ['remember_facts', { text: 'I live in Porto.' }, 'Porto'],
  ['store_memory', { content: 'The team decided to use Postgres', category: 'decision', tags: ['db'] }, 'memory_id'],
  ['recall_memories', { query: 'Postgres', limit: 3 }, 'decided to use Postgres'],
  ['recall_conversation', { query: 'ferry' }, 'The ferry leaves at nine.'],
  ['append_memory_block', { key: 'human', text: 'likes tea' }, 'likes tea'],
  ['replace_memory_block', { key: 'human', old_text: 'tea', new_text: '咖啡' }, 'likes 咖啡'],
  ['recall_memory_block', { key: 'human' }, 'likes 咖啡'],
  ['forget_memory', { description: 'The team decided to use Postgres' }, 'memories'],
  ['create_entities', { entities: [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }, { name: 'Acme', entityType: 'company', observations: [] }] }, 'Acme'],
  ['create_relations', { relations: [{ from: 'Ada', to: 'Acme', relationType: 'works_at' }] }, 'works_at'],
  ['add_observations', { observations: [{ entityName: 'Acme', contents: ['makes anvils'] }] }, 'makes anvils'],
  ['read_graph', {}, 'makes anvils'],
  ['search_nodes', { query: 'ANVILS' }, 'Acme'],
  ['open_nodes', { names: ['Ada'] }, 'likes tea'],
  ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['likes tea'] }] }, 'deleted successfully'],
  ['delete_relations', { relations: [{ from: 'Ada', to: 'Acme', relationType: 'works_at' }] }, 'deleted successfully'],
  ['delete_entities', { entityNames: ['Ada', 'Acme'] }, 'deleted successfully'],
  ['save_memory', { content: 'Tag before you push', metadata: { domain: 'git' } }, 'Saved memory'],
  ['search_memory', { query: 'tag before push' }, 'Tag before you push'],
  ['load_skill', { skill_name: 'git' }, 'loaded'],
  ['record_experience', { task: 'Release', trajectory: ['test', 'tag'], insight: 'Tag last.' }, 'complex_execution'],
  ['update_knowledge_base', { category: 'patterns', title: 'Research', content: 'Use the graph.' }, 'Saved memory'],
  ['get_memory_stats', {}, 'Skills: 1'],
  ['index_memory', {}, 'Vector index'],
  ['search_documents', { query: 'restarts a container' }, 'probes.md'],
  ['lookup_documents', { query: 'When does it restart?', projects: ['Liveness probe'] }, 'probes.md'],
];
const ownersOnly = ['index_memory']; // of all users: not over HTTP

const inspector = join('node_modules', '.bin', 'mcp-inspector');
async function inspect(target, ...args) {
  const options = target[0].startsWith('http') ? ['--header', `Authorization: Bearer ${env.HIPPOCAMPUS_MCP_TOKEN}`, '--transport', 'http']
    : ['-e', `DATABASE_URL=${env.DATABASE_URL}`];
  const { stdout } = await run(inspector, ['--cli', ...options, ...args, '--', ...target], { env, maxBuffer: 1 << 26, timeout: 120_000 });
  return JSON.parse(stdout);
}

async function everyTool(name, target, left) {
  console.log(`inspector over ${name}`);
  const listed = (await inspect(target, '--method', 'tools/list')).tools.map((t) => t.name).sort();
  const wanted = calls.map(([tool]) => tool).filter((tool) => !left.includes(tool)).sort();
  check(isDeepStrictEqual(listed, wanted), `tools listed over ${name}: ${listed.join(' ')}`);
  for (const [tool, args, says] of calls.filter(([t]) => !left.includes(t))) {
    const pairs = Object.entries(args).flatMap(([k, v]) => ['--tool-arg', `${k}=${typeof v === 'string' ? v : JSON.stringify(v)}`]);
    const result = await inspect(target, '--method', 'tools/call', '--tool-name', tool, ...pairs);
    check(!result.isError && JSON.stringify(result).includes(says), `${tool} over ${name}: ${JSON.stringify(result)}`);
    console.log(`  ${tool}: ${result.content[0].text.replace(/\s+/g, ' ').slice(0, 100)}`);
  }
  const refused = await inspect(target, '--method', 'tools/call', '--tool-name', 'store_memory', '--tool-arg', 'contents=x')
    .then(() => 'an answer', (e) => `${e.stdout}${e.stderr}`);
  check(refused.includes('"error"') && refused.includes('contents'), `a malformed call over ${name} got ${refused}`);
  console.log(`  a malformed call: ${refused.trim()}`);
}

// What both memory servers are asked, in order. What was created twice, is missing, or is not there is in it.
const ada = { name: 'Ada', entityType: 'person', observations: ['likes tea', 'lives in Porto'] };
const acme = { name: 'Acme', entityType: 'company', observations: [] };
const script = [
  ['read_graph', {}],
  ['create_entities', { entities: [ada, acme] }],
  ['create_entities', { entities: [{ ...ada, entityType: 'robot' }, { name: '東京', entityType: '都市', observations: ['首都'] }] }],
  ['create_relations', { relations: [{ from: 'Ada', to: 'Acme', relationType: 'works_at' }, { from: 'Ada', to: '東京', relationType: 'visited' }] }],
  ['create_relations', { relations: [{ from: 'Ada', to: 'Acme', relationType: 'works_at' }, { from: 'Ada', to: 'Acme', relationType: 'owns' }] }],
  ['add_observations', { observations: [{ entityName: 'Ada', contents: ['likes tea', 'plays chess'] }, { entityName: 'Acme', contents: ['makes anvils'] }] }],
  ['add_observations', { observations: [{ entityName: 'Nobody', contents: ['x'] }] }],
  ['read_graph', {}],
  ['search_nodes', { query: 'ANVILS' }],
  ['search_nodes', { query: 'ada' }],
  ['search_nodes', { query: '首' }],
  ['search_nodes', { query: '100%_' }],
  ['search_nodes', { query: '' }],
  ['search_nodes', { query: 'nothing of the kind' }],
  ['open_nodes', { names: ['Ada', 'Acme'] }],
  ['open_nodes', { names: ['Ada'] }],
  ['open_nodes', { names: ['Nobody'] }],
  ['open_nodes', { names: [] }],
  ['delete_observations', { deletions: [{ entityName: 'Ada', observations: ['plays chess', 'never said'] }, { entityName: 'Nobody', observations: ['x'] }] }],
  ['delete_relations', { relations: [{ from: 'Ada', to: 'Acme', relationType: 'owns' }, { from: 'Ada', to: 'Nobody', relationType: 'x' }] }],
  ['read_graph', {}],
  ['delete_entities', { entityNames: ['Acme', 'Nobody'] }],
  ['read_graph', {}],
  ['create_entities', { entities: [] }],
  ['create_entities', { entities: [{ name: 'No type' }] }],
  ['create_entities', {}],
  ['search_nodes', {}],
  ['no_such_tool', {}],
];

async function graph() {
  console.log('the nine tools, beside @modelcontextprotocol/server-memory');
  const connect = async (command, args, more) => {
    const client = new Client({ name: 'check', version: '1' });
    await client.connect(new StdioClientTransport({ command, args, env: { ...env, ...more }, stderr: 'ignore' }));
    return client;
  };
  const theirs = await connect('node', [join('node_modules', '.bin', 'mcp-server-memory')], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') });
  const ours = await connect(hippo, ['mcp', ...scope('graph')]);
  // A failure is a failure, whether the server answers with a result or with a protocol error.
  const ask = (client, name, args) => client.callTool({ name, arguments: args }).then(
    (r) => (r.isError ? { failed: true } : { text: parsed(r.content[0].text), structured: r.structuredContent }), () => ({ failed: true }));
  // A deletion of ours says how many there were, too.
  const common = (name, r) => (name.startsWith('delete_') && r.structured ? { success: r.structured.success } : r);
  const parsed = (text) => { try { return JSON.parse(text); } catch { return text; } };
  for (const [name, args] of script) {
    const [their, our] = [await ask(theirs, name, args), await ask(ours, name, args)];
    const same = isDeepStrictEqual(common(name, their), common(name, our))
      && (our.failed || !name.startsWith('delete_') || Number.isInteger(our.structured.deleted));
    check(same, `${name} ${JSON.stringify(args)}\n    theirs ${JSON.stringify(their)}\n    ours   ${JSON.stringify(our)}`);
    if (same) console.log(`  same: ${name} ${JSON.stringify(args).slice(0, 90)}${our.failed ? ' (refused)' : ''}`);
  }
  await Promise.all([theirs.close(), ours.close()]);
}

// Two clients of two servers write one graph at once: nothing may be lost.
async function together() {
  console.log('two clients at once');
  const clients = await Promise.all([1, 2].map(async () => {
    const client = new Client({ name: 'check', version: '1' });
    await client.connect(new StdioClientTransport({ command: hippo, args: ['mcp', ...scope('two')], env, stderr: 'ignore' }));
    return client;
  }));
  await Promise.all(clients.map(async (client, i) => {
    for (let n = 0; n < 50; n++) {
      await client.callTool({ name: 'create_entities', arguments: { entities: [{ name: `n${i}-${n}`, entityType: 't', observations: [] }, { name: 'hub', entityType: 't', observations: [] }] } });
      await client.callTool({ name: 'add_observations', arguments: { observations: [{ entityName: 'hub', contents: [`${i}-${n}`] }] } });
    }
  }));
  const { structuredContent: all } = await clients[0].callTool({ name: 'read_graph', arguments: {} });
  const code = await clients[0].callTool({ name: 'store_memory', arguments: { contents: 'x' } }).then(() => 0, (e) => e.code);
  check(code === -32602, `a malformed call got code ${code}`);
  check(all.entities.length === 101 && all.entities.find((e) => e.name === 'hub').observations.length === 100,
    `two clients wrote 101 entities and 100 observations; there are ${all.entities.length}`);
  await Promise.all(clients.map((c) => c.close()));
}

async function overHTTP() {
  const port = 20000 + process.pid % 20000;
  const server = spawn(hippo, [...flags('http'), '--http', String(port)], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    await new Promise((ready, failed) => {
      server.stderr.on('data', (text) => String(text).includes('serving on') && ready());
      server.on('exit', (code) => failed(new Error(`hippo mcp --http ended with ${code}`)));
    });
    await everyTool('HTTP', [`http://127.0.0.1:${port}`], ownersOnly);
  } finally {
    server.kill();
  }
}

const scope = (who) => ['--app', 'mcp-check', '--user', `${user}-${who}`];
const flags = (who) => ['mcp', ...scope(who), '--worker', '--skills', folder];
async function prepare(who) {
  writeFileSync(join(folder, 'talk.jsonl'), '{"session_id": "s", "author": "user", "text": "The ferry leaves at nine."}\n');
  await run(hippo, ['index', ...scope(who), '--rebuild', join(folder, 'docs')], { env });
  await run(hippo, ['import', ...scope(who), join(folder, 'talk.jsonl')], { env });
}
try {
  await prepare('stdio');
  await everyTool('standard input and output', [hippo, ...flags('stdio')], []);
  await prepare('http');
  await overHTTP();
  await graph();
  await together();
} finally {
  rmSync(folder, { recursive: true });
}
console.log(problems.length ? `${problems.length} differences:\n${problems.join('\n')}` : 'no differences');
process.exit(problems.length ? 1 : 0);
