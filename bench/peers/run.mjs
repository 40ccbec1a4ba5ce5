// Runs every system on the same Postgres, rows, vectors and queries, one after the other, and prints a table.
// node run.mjs [--users 20] [--rows 250] [--queries 300] [--dimension 384] [--clients 4] [--only NAME] [--json]
import { parseArgs } from 'node:util'
import { performance } from 'node:perf_hooks'
import { make } from './data.mjs'
import { embed, pool as connect, systems } from './systems.mjs'

const { values } = parseArgs({
  options: {
    users: { type: 'string', default: '20' }, rows: { type: 'string', default: '250' }, queries: { type: 'string', default: '300' },
    dimension: { type: 'string', default: '384' }, clients: { type: 'string', default: '4' }, only: { type: 'string' }, json: { type: 'boolean' },
  },
})
const url = process.env.DATABASE_URL
if (!url) throw new Error('DATABASE_URL must name a database that was migrated with --dimension ' + values.dimension)
const dimension = Number(values.dimension)
const data = make({ users: Number(values.users), rows: Number(values.rows), queries: Number(values.queries), seed: 1 })
const vectors = new Map([...data.rows, ...data.queries].map((r) => [r.text, embed(r.text, dimension)]))

const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0)
const exact = data.queries.map((query) =>
  data.rows.filter((r) => r.user === query.user)
    .map((r) => [dot(vectors.get(query.text), vectors.get(r.text)), r.text])
    .sort((a, b) => b[0] - a[0]).slice(0, 10).map(([, text]) => text))

const at = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]

async function timed(items, clients, fn) {
  const times = []
  let next = 0
  const started = performance.now()
  await Promise.all(Array.from({ length: clients }, async () => {
    while (next < items.length) {
      const i = next++
      const begun = performance.now()
      await fn(items[i], i)
      times.push(performance.now() - begun)
    }
  }))
  times.sort((a, b) => a - b)
  return { seconds: (performance.now() - started) / 1000, p50: at(times, 0.5), p95: at(times, 0.95) }
}

async function size(pool, system) {
  const found = system.tables
    ? await pool.query('SELECT sum(pg_total_relation_size(t::regclass))::bigint AS bytes FROM unnest($1::text[]) t', [system.tables])
    : await pool.query(`SELECT sum(pg_total_relation_size(c.oid))::bigint AS bytes FROM pg_class c
        WHERE c.relnamespace = $1::regnamespace AND c.relkind = 'r'`, [system.schema])
  return Number(found.rows[0].bytes)
}

async function measure(system) {
  const pool = connect(url, Number(values.clients))
  const context = { dimension, pool, url }
  try {
    await system.setup(context)
    const before = system.schema ? await size(pool, system) : 0
    const added = await timed(data.rows, Number(values.clients), (row) => system.add(context, row, vectors.get(row.text)))
    const bytes = system.tables || system.schema ? (await size(pool, system)) - before : NaN
    await pool.query('VACUUM ANALYZE') // what autovacuum would do meanwhile
    for (const query of data.queries.slice(0, 20)) await system.search(context, query, vectors.get(query.text))
    let right = 0
    let found = 0
    const searched = await timed(data.queries, 1, async (query, i) => {
      const texts = await system.search(context, query, vectors.get(query.text))
      found += texts.length
      right += texts.filter((text) => exact[i].includes(text)).length
    })
    return {
      name: system.name, addsPerSecond: data.rows.length / added.seconds, addP50: added.p50, addP95: added.p95,
      searchP50: searched.p50, searchP95: searched.p95, recall: right / (10 * data.queries.length), rowsFound: found / data.queries.length,
      bytesPerRow: bytes / data.rows.length,
    }
  } finally {
    await system.close?.()
    await pool.end()
  }
}

const results = []
for (const system of systems.filter((s) => !values.only || s.name.includes(values.only))) {
  process.stderr.write(`${system.name} …\n`)
  results.push(await measure(system))
}
if (values.json) {
  console.log(JSON.stringify({ options: values, results }, null, 2))
} else {
  const base = results[0]
  const n = (x, digits = 1) => (Number.isNaN(x) ? '–' : x.toFixed(digits))
  console.log(`${data.rows.length} rows of ${values.users} users, ${dimension} dimensions; ${values.clients} clients add, one searches, embedding given or made in the process. In brackets: as a multiple of the first line.\n`)
  console.log('| System | adds/s | add p50 / p95 ms | search p50 / p95 ms | recall@10 of exact | rows returned of 10 | bytes/row |\n|---|---|---|---|---|---|---|')
  for (const r of results) {
    console.log(`| ${r.name} | ${n(r.addsPerSecond, 0)} (${n(r.addsPerSecond / base.addsPerSecond, 2)}) | ${n(r.addP50)} / ${n(r.addP95)} | ` +
      `${n(r.searchP50)} / ${n(r.searchP95)} (${n(r.searchP50 / base.searchP50)}) | ${n(r.recall, 3)} | ${n(r.rowsFound)} | ${n(r.bytesPerRow, 0)} |`)
  }
}
process.exit(0) // some keep timers
