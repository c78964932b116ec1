import { createPrivateKey } from 'node:crypto'
import { constants, gzipSync } from 'node:zlib'
import type { EvidenceClient } from '../../src/evidence/index.ts'
import { LogSigner } from '../../src/evidence/transparency/keys.ts'
import { retryAfterMs } from '../../src/feed/retry.ts'
import { judgeFeed } from '../../src/feed/verdict.ts'
import { type FeedBody, feedPath, mostLeaves } from '../../src/feed/wire.ts'
import { leafHash, MerkleFrontier } from '../../src/log/index.ts'
import { chanceOf, leafAt } from './leaves.ts'

/** Plan of a simulated gateway, as its process receives it. */
export type SitePlan = {
  readonly siteId: string
  readonly logId: string
  readonly origin: string
  readonly token: string
  /** Private keys, PKCS #8 in PEM. */
  readonly keys: { readonly ed25519: string; readonly mlDsa44: string }
  readonly seed: number
  /** Between two leaves, on average. */
  readonly gapMs: number
  /** Time after the start when it continues with another history; undefined: never. */
  readonly forksAtMs: number | undefined
}

/** Final state of a simulated gateway. */
export type SiteReport = {
  readonly siteId: string
  readonly logId: string
  readonly made: number
  /** Leaves that the head office has acknowledged, and the root over them, base64. */
  readonly acknowledged: number
  readonly root: string
  /** It went on with another history, and the head office refused that. */
  readonly fork: 'none' | 'refused' | 'not refused'
  readonly feeds: number
  readonly retries: number
  /** Things that must not happen, as sentences. */
  readonly wrong: readonly string[]
}

export type SiteNeeds = {
  readonly plan: SitePlan
  readonly client: Pick<EvidenceClient, 'post'>
  readonly address: { readonly url: string; readonly caFile: string }
  readonly intervalMs: number
  /** A leaf was acknowledged. */
  readonly onAcknowledged: (madeMs: number, nowMs: number) => void
}

type Waiting = { readonly bytes: Buffer; readonly madeMs: number }

/**
 * A gateway with nothing but its log: a real tree, real signatures, and the real feed. It makes leaves by chance, sends them, and never
 * sends one again that was acknowledged.
 */
export class SimulatedSite {
  readonly #needs: SiteNeeds
  readonly #signer: LogSigner
  readonly #chance: () => number
  #waiting: Waiting[] = []
  #tree = new MerkleFrontier()
  /** The tree before the last acknowledged feed. */
  #before = this.#tree
  #made = 0
  #nextLeafMs: number
  #nextFeedMs: number
  #feeding: Promise<void> | undefined
  #failures = 0
  #feeds = 0
  #retries = 0
  #fork: SiteReport['fork'] = 'none'
  #forkTree: MerkleFrontier | undefined
  #isOver = false
  readonly #wrong: string[] = []

  constructor(needs: SiteNeeds, nowMs: number) {
    const { plan, intervalMs } = needs
    this.#needs = needs
    this.#chance = chanceOf(plan.seed)
    const { ed25519, mlDsa44 } = plan.keys
    this.#signer = new LogSigner(plan.origin, {
      ed25519: createPrivateKey(ed25519),
      mlDsa44: createPrivateKey(mlDsa44),
    })
    this.#nextLeafMs = nowMs + this.#chance() * plan.gapMs
    this.#nextFeedMs = nowMs + this.#chance() * intervalMs
  }

  /** Leaves that are made and not acknowledged. */
  get waiting(): number {
    return this.#isOver ? 0 : this.#waiting.length
  }

  get made(): number {
    return this.#made
  }

  /** Makes the leaves that are due, and begins a feed when one is due. `makes`: false once the run is over. */
  tick(nowMs: number, sinceStartMs: number, makes: boolean): void {
    if (this.#isOver) return
    while (makes && this.#nextLeafMs <= nowMs) {
      this.#make(this.#nextLeafMs)
      this.#nextLeafMs += -Math.log(1 - this.#chance()) * this.#needs.plan.gapMs
    }
    if (this.#feeding || nowMs < this.#nextFeedMs) return
    const { forksAtMs } = this.#needs.plan
    if (forksAtMs !== undefined && sinceStartMs >= forksAtMs && this.#fork === 'none' && this.#tree.size > 0)
      this.#goBack()
    if (this.#waiting.length === 0) return
    this.#nextFeedMs = nowMs + this.#needs.intervalMs
    this.#feeding = this.#feed()
      .catch((error: unknown) => void this.#wrong.push(String(error)))
      .finally(() => {
        this.#feeding = undefined
      })
  }

  report(): SiteReport {
    const { siteId, logId } = this.#needs.plan
    return {
      ...{ siteId, logId, made: this.#made, acknowledged: this.#tree.size, root: this.#tree.root().toString('base64') },
      ...{ fork: this.#fork, feeds: this.#feeds, retries: this.#retries, wrong: this.#wrong },
    }
  }

  #make(atMs: number): void {
    const { siteId, logId } = this.#needs.plan
    const seq = (this.#forkTree ?? this.#tree).size + this.#waiting.length + 1
    this.#waiting.push({ bytes: leafAt({ siteId, logId, seq, atMs: Date.now() }, 0), madeMs: atMs })
    this.#made += 1
  }

  /** As after a restore from an older copy that no one speaks of: the same place, other leaves, and more of them. */
  #goBack(): void {
    const { siteId, logId } = this.#needs.plan
    const from = this.#before.size
    this.#fork = 'not refused'
    this.#forkTree = this.#before
    this.#waiting = Array.from({ length: this.#tree.size - from + 1 }, (_, i) => ({
      bytes: leafAt({ siteId, logId, seq: from + i + 1, atMs: Date.now() }, 1),
      madeMs: 0,
    })).slice(0, mostLeaves)
  }

  async #feed(): Promise<void> {
    const { plan, client, address } = this.#needs
    const start = this.#forkTree ?? this.#tree
    const sent = this.#waiting.slice(0, mostLeaves)
    const tree = MerkleFrontier.from(start.size, start.peaks)
    for (const { bytes } of sent) tree.append(leafHash(bytes))
    const checkpoint = await this.#signer.sign({ size: tree.size, root: tree.root() }, Date.now())
    const body: FeedBody = {
      ...{ checkpoint, from: start.size, leaves: sent.map(({ bytes }) => bytes.toString('base64')) },
      // A gateway sends the tree before its leaves when the head office has answered where to continue.
      ...(this.#forkTree && { before: hashesIn(start.peaks) }),
    }
    // A gateway packs harder; here a thousand of them share the processors with the head office.
    const packed = gzipSync(JSON.stringify(body), { level: constants.Z_BEST_SPEED })
    this.#feeds += 1
    const headers = { authorization: `Bearer ${plan.token}`, 'content-encoding': 'gzip' }
    const posting = { path: feedPath(plan.logId), contentType: 'application/json', body: packed, headers }
    const verdict = judgeFeed(await client.post(address, posting), tree.size)
    if (verdict.kind === 'fed') {
      this.#nextFeedMs = Math.max(this.#nextFeedMs, performance.now() + (verdict.answer.pauseMs ?? 0))
      this.#taken(sent, tree, verdict.answer.size)
    }
    if (verdict.kind === 'go-on-from') {
      this.#end(`${start.size} leaves were acknowledged, and the head office has ${verdict.size}`)
    }
    if (verdict.kind === 'trouble') this.#failed(verdict)
  }

  #taken(sent: readonly Waiting[], tree: MerkleFrontier, size: number): void {
    if (this.#forkTree || size !== tree.size) {
      this.#end(
        `${tree.size} leaves were sent${this.#forkTree ? ' of a second history' : ''}, and ${size} acknowledged`,
      )
      return
    }
    this.#before = this.#tree
    this.#tree = tree
    this.#waiting.splice(0, sent.length)
    this.#failures = 0
    const nowMs = performance.now()
    for (const { madeMs } of sent) this.#needs.onAcknowledged(madeMs, nowMs)
  }

  #failed(trouble: Extract<ReturnType<typeof judgeFeed>, { kind: 'trouble' }>): void {
    const { finding, words } = trouble
    if (finding === 'forked' && this.#forkTree) {
      this.#fork = 'refused'
      this.#isOver = true
      return
    }
    if (finding !== 'unreachable' && finding !== 'unavailable') {
      this.#end(`refused: ${finding}, ${words}`)
      return
    }
    this.#failures += 1
    this.#retries += 1
    this.#nextFeedMs = performance.now() + retryAfterMs(trouble, this.#failures, this.#chance())
  }

  #end(words: string): void {
    this.#wrong.push(words)
    this.#isOver = true
  }
}

function hashesIn(peaks: Buffer): string[] {
  return Array.from({ length: peaks.length / 32 }, (_, i) => peaks.subarray(i * 32, (i + 1) * 32).toString('base64'))
}
