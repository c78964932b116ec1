import t from 'tap'

t.test('a list that is wanted again while it is read is read once more, so it shows what was done', async (t) => {
  Object.assign(globalThis, { document: { hidden: false }, window: { setTimeout: () => 0 } })
  const { useLive } = await import(new URL('../../src/console/page/use-live.ts', import.meta.url).href)
  const reads: PromiseWithResolvers<string>[] = []
  const load = () => {
    reads.push(Promise.withResolvers<string>())
    return reads.at(-1)?.promise
  }
  const { reload } = useLive(load, ['event'], () => {})
  reload()
  reload()
  reload()
  t.equal(reads.length, 1, 'one at a time')
  for (const wanted of [2, 2]) {
    reads.at(-1)?.resolve('')
    await new Promise((resolve) => setImmediate(resolve))
    t.equal(reads.length, wanted)
  }
})
