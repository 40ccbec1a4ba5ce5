// The systems that are compared, each by its documented calls: setup, add one row, search the ten best of a user.
import { createServer } from 'node:http'
import pg from 'pg'
import { Memory as MastraMemory } from '@mastra/memory'
import { PgVector, PostgresStore as MastraStore } from '@mastra/pg'
import { Memory } from 'mem0ai/oss'
import { PostgresStore } from '@langchain/langgraph-checkpoint-postgres/store'
import { Embedder, embed } from './data.mjs'

const literal = (vector) => `[${vector.join(',')}]`

// plain is pgvector by hand: one table, an index on the user, and, where hnsw, one on the vectors of all users.
function plain(name, hnsw) {
  const table = `peers_${name}`
  return {
    name: hnsw ? 'pgvector by hand, one HNSW index' : 'pgvector by hand, exact',
    tables: [table],
    async setup({ pool, dimension }) {
      await pool.query(`CREATE TABLE ${table} (id bigserial PRIMARY KEY, user_id text NOT NULL, text text NOT NULL, embedding vector(${dimension}) NOT NULL)`)
      await pool.query(`CREATE INDEX ON ${table} (user_id)`)
      if (hnsw) await pool.query(`CREATE INDEX ON ${table} USING hnsw (embedding vector_cosine_ops)`)
    },
    async add({ pool }, row, vector) {
      await pool.query({ name: `add_${name}`, text: `INSERT INTO ${table} (user_id, text, embedding) VALUES ($1, $2, $3)`, values: [row.user, row.text, literal(vector)] })
    },
    async search({ pool }, query, vector) {
      const found = await pool.query({
        name: `search_${name}`,
        text: `SELECT text FROM ${table} WHERE user_id = $1 ORDER BY embedding <=> $2 LIMIT 10`,
        values: [query.user, literal(vector)],
      })
      return found.rows.map((r) => r.text)
    },
  }
}

// hippocampus is used from SQL, as the others' servers are from JavaScript: a call a row, a call a search.
function hippocampus(words) {
  const app = words ? 'peers-words' : 'peers-vectors'
  return {
    name: words ? 'Hippocampus, words and meaning' : 'Hippocampus, meaning alone',
    schema: words ? undefined : 'hippocampus',
    async setup({ pool }) {
      if (!words) await pool.query(`SELECT hippocampus.put_setting(p_app_name => $1, p_key => 'ranking', p_value => '{"text": 0, "vector": 1, "strength": 0, "recency": 0}')`, [app])
    },
    async add({ pool }, row, vector) {
      await pool.query({
        name: 'remember',
        text: 'SELECT hippocampus.remember($1, $2, $3, p_embedding => $4, p_token_count => 12)',
        values: [row.user, app, row.text, literal(vector)],
      })
    },
    async search({ pool }, query, vector) {
      const found = await pool.query({
        name: 'recall',
        text: 'SELECT content FROM hippocampus.search_memory($1, $2, $3, $4, 10)',
        values: [query.user, app, words ? query.text : '', literal(vector)],
      })
      return found.rows.map((r) => r.content)
    },
  }
}

// A language model of this process, as OpenAI's API has it, which answers at once: what is to be remembered is what was
// said, word for word. So a run shows what mem0 does around a model, and no model's time.
async function echo() {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const said = [...JSON.parse(body).messages.at(-1).content.matchAll(/user: (note [^\n"\\]*)/g)].at(-1)?.[1]
    const content = JSON.stringify({ memory: said ? [{ id: '0', text: said, attributed_to: 'user' }] : [] })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({
      id: 'echo', object: 'chat.completion', created: 0, model: 'echo', usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content } }],
    }))
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  return server
}

// mem0 stores what it is told, or, with infer, what a language model makes of it, as its default is.
const mem0 = (infer) => ({
  name: infer ? 'mem0ai (open source), pgvector, with a language model that answers at once' : 'mem0ai (open source), pgvector, without a language model',
  tables: [infer ? 'peers_mem0_infer' : 'peers_mem0'],
  async setup({ url, dimension }) {
    const at = new URL(url)
    this.model = infer ? await echo() : undefined
    const port = this.model?.address().port ?? 9 // never called
    this.memory = new Memory({
      disableHistory: true,
      embedder: { provider: 'langchain', config: { model: new Embedder(dimension) } },
      llm: { provider: 'openai', config: { apiKey: 'none', baseURL: `http://127.0.0.1:${port}`, model: 'echo' } },
      vectorStore: {
        provider: 'pgvector',
        config: {
          collectionName: this.tables[0], dimension, embeddingModelDims: dimension, hnsw: true, dbname: at.pathname.slice(1),
          host: at.hostname, port: Number(at.port), user: decodeURIComponent(at.username), password: decodeURIComponent(at.password),
        },
      },
    })
  },
  async add(_, row) {
    await this.memory.add(row.text, { userId: row.user, infer })
  },
  async search(_, query) {
    const found = await this.memory.search(query.text, { topK: 10, filters: { user_id: query.user } })
    return found.results.map((r) => r.memory)
  },
  close() {
    this.model?.close()
  },
})

const langgraph = {
  name: 'LangGraph PostgresStore (JavaScript)',
  schema: 'peers_langgraph',
  async setup({ url, dimension }) {
    this.store = new PostgresStore({
      connectionOptions: url, schema: 'peers_langgraph',
      index: { dims: dimension, embed: new Embedder(dimension), fields: ['text'], indexType: 'hnsw', distanceMetric: 'cosine' },
    })
    await this.store.setup()
  },
  async add(_, row) {
    await this.store.put(['memories', row.user], String(row.id), { text: row.text })
  },
  async search(_, query) {
    const found = await this.store.search(['memories', query.user], { query: query.text, limit: 10 })
    return found.map((item) => item.value.text)
  },
  async close() {
    await this.store.stop()
  },
}

const mastra = {
  name: '@mastra/pg PgVector',
  tables: ['peers_mastra'],
  async setup({ url, dimension }) {
    this.vectors = new PgVector({ id: 'peers', connectionString: url })
    await this.vectors.createIndex({ indexName: 'peers_mastra', dimension, metric: 'cosine', indexConfig: { type: 'hnsw' } })
  },
  async add(_, row, vector) {
    await this.vectors.upsert({ indexName: 'peers_mastra', vectors: [vector], metadata: [{ resource_id: row.user, text: row.text }], ids: [String(row.id)] })
  },
  async search(_, query, vector) {
    const found = await this.vectors.query({ indexName: 'peers_mastra', queryVector: vector, topK: 10, filter: { resource_id: query.user } })
    return found.map((hit) => hit.metadata.text)
  },
  async close() {
    await this.vectors.disconnect()
  },
}

// mastraMemory is the memory of Mastra's agents: messages of a thread, and semantic recall over them.
const mastraMemory = {
  name: '@mastra/memory, semantic recall',
  schema: 'peers_mastra_memory',
  async setup({ url, dimension }) {
    this.storage = new MastraStore({ id: 'peers', connectionString: url, schemaName: 'peers_mastra_memory' })
    await this.storage.init()
    this.vectors = new PgVector({ id: 'peers-memory', connectionString: url, schemaName: 'peers_mastra_memory' })
    const embedder = new Embedder(dimension)
    this.memory = new MastraMemory({
      storage: this.storage, vector: this.vectors,
      embedder: {
        specificationVersion: 'v2', provider: 'peers', modelId: 'local', maxEmbeddingsPerCall: 1000, supportsParallelCalls: true,
        doEmbed: async ({ values }) => ({ embeddings: await embedder.embedDocuments(values), usage: { tokens: 0 } }),
      },
      options: { lastMessages: false, semanticRecall: { topK: 10, messageRange: 0, scope: 'resource', indexConfig: { type: 'hnsw' } } },
    })
    this.threads = new Map()
  },
  thread(user) {
    if (!this.threads.has(user)) {
      const now = new Date()
      const thread = { id: `thread-${user}`, resourceId: user, title: user, createdAt: now, updatedAt: now, metadata: {} }
      this.threads.set(user, this.memory.saveThread({ thread }))
    }
    return this.threads.get(user)
  },
  async add(_, row) {
    const thread = await this.thread(row.user)
    await this.memory.saveMessages({
      messages: [{
        id: `message-${row.id}`, threadId: thread.id, resourceId: row.user, role: 'user', type: 'text', createdAt: new Date(),
        content: { format: 2, parts: [{ type: 'text', text: row.text }] },
      }],
    })
  },
  async search(_, query) {
    const thread = await this.thread(query.user)
    const found = await this.memory.recall({ threadId: thread.id, resourceId: query.user, vectorSearchString: query.text, perPage: 0 })
    return found.messages.map((m) => m.content.parts[0].text)
  },
  async close() {
    await this.vectors.disconnect()
    await this.storage.close?.()
  },
}

export const systems = [plain('exact', false), plain('hnsw', true), hippocampus(false), hippocampus(true), mem0(false), mem0(true), langgraph, mastra, mastraMemory]
export const pool = (url, clients) => new pg.Pool({ connectionString: url, max: clients })
export { embed }
