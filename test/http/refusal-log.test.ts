import t from 'tap'
import { AppError } from '../../src/errors/index.ts'
import { newRoot } from '../../src/http/index.ts'
import type { Logger } from '../../src/platform/index.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

t.test(
  'callers who have to wait are one warning in ten minutes, and what is broken is an error each time',
  async (t) => {
    const clock = new SimulatedClock()
    const lines: unknown[] = []
    const line = (level: string) => (facts: { code: string; sinceTheLastLine?: number }) =>
      lines.push([level, facts.code, facts.sinceTheLastLine])
    const log = { warn: line('warn'), error: line('error') } as unknown as Logger
    const child = () => log
    const root = newRoot({
      log: { child, isLevelEnabled: () => false } as unknown as Logger,
      clock,
      makeRequestId: () => 'request-1',
      addressOf: () => '',
    })
    root.get('/wait', () => {
      throw new AppError('AUTH_BACKEND_UNREACHABLE', 'Nobody answers', { retryAfterSeconds: 5 })
    })
    root.get('/full', () => {
      throw new AppError('STORAGE_FULL', 'The disk is full')
    })
    root.get('/broken', () => {
      throw new Error('a mistake of ours')
    })
    const ask = async (path: string, times: number) => {
      for (let n = 0; n < times; n += 1) await root.request(path)
    }
    await ask('/wait', 1000)
    await ask('/full', 2)
    await ask('/broken', 2)
    t.strictSame(lines.splice(0), [
      ['warn', 'AUTH_BACKEND_UNREACHABLE', undefined],
      ['warn', 'STORAGE_FULL', undefined],
      ['error', 'INTERNAL_ERROR', undefined],
      ['error', 'INTERNAL_ERROR', undefined],
    ])
    clock.advance(10 * 60_000)
    await ask('/wait', 3)
    t.strictSame(lines, [['warn', 'AUTH_BACKEND_UNREACHABLE', 999]])
  },
)
