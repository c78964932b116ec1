import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { furnish, heldPhoto, people, type TestGateway, testGateway } from '../../test/support/gateway.ts'
import { type Figure, millis, rounded } from './figure.ts'
import { median } from './statistics.ts'
import type { Workshop } from './workshop.ts'

const leaves = 256
const rounds = 15

/**
 * Measures the CPU of the main thread for a segment of 256 leaves, from the order to the noted
 * state.
 */
export async function measureSegments(workshop: Workshop): Promise<Figure[]> {
  const folder = workshop.newFolder('segments')
  const nas = join(folder, 'nas')
  for (const path of [nas, join(folder, 'box')]) mkdirSync(path, { recursive: true })
  const config = { backup: { segments: { to: { folder: nas } } } }
  const gateway = await testGateway({ folder: join(folder, 'box'), config })
  try {
    await furnish(gateway, ['A'])
    const photo = await heldPhoto(gateway)
    await written(gateway)
    const mainMs: number[] = []
    const wholeMs: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      await place(gateway, round, photo)
      const begun = performance.now()
      const before = process.threadCpuUsage()
      await written(gateway)
      const { user, system } = process.threadCpuUsage(before)
      mainMs.push((user + system) / 1000)
      wholeMs.push(performance.now() - begun)
    }
    return [figureOf(mainMs, wholeMs)]
  } finally {
    await gateway.segmentJobs.stop()
    await gateway.backupJobs.stop()
    gateway.close()
  }
}

async function place(gateway: TestGateway, round: number, photo_url: string): Promise<void> {
  for (let at = 0; at < leaves; at += 64) {
    const events = Array.from({ length: 64 }, (_, i) => ({
      ...{ event_type: 'PLACED', slot_code: 'A', asset_barcode: `P-${round}-${at + i}`, photo_url },
    }))
    const { status, text } = await gateway.ask('POST', '/api/whms/events/batch', { by: people.ada, body: { events } })
    if (status !== 201) throw new Error(`not recorded: ${status} ${text}`)
  }
}

async function written(gateway: TestGateway): Promise<void> {
  await gateway.segments.look()
  const { fault } = gateway.segments.seen()
  if (fault !== null) throw new Error(fault)
}

function figureOf(mainMs: readonly number[], wholeMs: readonly number[]): Figure {
  const numbers = { mainThreadMs: median(mainMs), mostMainThreadMs: Math.max(...mainMs), wholeMs: median(wholeMs) }
  return {
    id: 'segment-main-thread',
    what: `CPU of the main thread for a segment of ${leaves} leaves, with its checkpoint`,
    value: numbers.mainThreadMs,
    unit: 'ms',
    target: { limit: 20, sense: 'at most' },
    raw: `median of ${rounds}: ${millis(numbers.mainThreadMs)}, at most ${millis(numbers.mostMainThreadMs)}; ${rounded(numbers.wholeMs)} ms from the order to the noted file, most of it in a thread of the lowest priority`,
    numbers,
  }
}
