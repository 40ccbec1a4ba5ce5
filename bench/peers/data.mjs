// Rows, vectors and queries that are the same for everybody and in every run: texts about topics, and a vector for
// each text that lies near its topic's. A pseudo-random number generator with a seed, so that nothing is downloaded.

export function generator(seed) {
  let s = seed >>> 0
  return () => {
    s = (s + 0x6d2b79f5) >>> 0
    let t = s
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

function hash(text) {
  let h = 2166136261
  for (const c of text) h = Math.imul(h ^ c.codePointAt(0), 16777619)
  return h >>> 0
}

function direction(seed, dimension) {
  const next = generator(seed)
  return Array.from({ length: dimension }, () => next() + next() + next() - 1.5)
}

const unit = (v) => {
  const length = Math.sqrt(v.reduce((sum, x) => sum + x * x, 0))
  return v.map((x) => x / length)
}

// The vector of a text: its topic's (the number after «topic»), and something of its own.
export function embed(text, dimension) {
  const topic = direction(7919 * (1 + Number(/topic (\d+)/.exec(text)?.[1] ?? 0)), dimension)
  const own = direction(hash(text), dimension)
  return unit(topic.map((x, i) => x + 0.6 * own[i]))
}

// The embedder as LangChain has it, which mem0 and LangGraph take.
export class Embedder {
  constructor(dimension) {
    this.dimension = dimension
  }
  async embedQuery(text) {
    return embed(text, this.dimension)
  }
  async embedDocuments(texts) {
    return texts.map((text) => embed(text, this.dimension))
  }
}

export function make({ users, rows, queries, seed }) {
  const next = generator(seed)
  const all = []
  for (let u = 0; u < users; u++) {
    for (let r = 0; r < rows; r++) {
      all.push({ id: all.length, user: `user-${u}`, text: `note ${all.length} on topic ${Math.floor(next() * 40)}, said ${Math.floor(next() * 1e6)}` })
    }
  }
  const asked = Array.from({ length: queries }, (_, q) => ({
    user: `user-${Math.floor(next() * users)}`,
    text: `what of topic ${Math.floor(next() * 40)}, question ${q}`,
  }))
  return { rows: all, queries: asked }
}
