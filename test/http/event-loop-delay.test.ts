/** How late the event loop was, in the metrics. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { people, testGateway } from '../support/gateway.ts'
import { eventually } from '../support/waiting.ts'

const blockedMs = 150

/** Holds the event loop up. */
function block(): void {
  for (const end = performance.now() + blockedMs; performance.now() < end; );
}

t.test('how late the event loop was is measured from the first collection on, and anew from each', async (t) => {
  const gateway = await testGateway()
  t.teardown(() => gateway.end())
  const seconds = async (what: string) => {
    const { text } = await gateway.ask('GET', '/api/metrics', { by: people.ada })
    return Number(new RegExp(`^nodejs_eventloop_lag_${what}_seconds (\\S+)$`, 'm').exec(text)?.[1])
  }
  block()
  // It is measured when the loop turns.
  await pause(1)
  t.equal(await seconds('max'), 0, 'no one asked before, so nothing woke an idle gateway to measure it')
  const longest = await eventually(
    async () => {
      block()
      await pause(1)
      return seconds('max')
    },
    (found) => found >= blockedMs / 1000,
  )
  const since = await eventually(
    () => seconds('max'),
    (found) => found > 0 && found < longest,
  )
  t.ok(since > 0.005, `${since} s`)
})
