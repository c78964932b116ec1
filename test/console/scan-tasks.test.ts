import t from 'tap'
import { actsOf, type Code } from '../../src/console/page/scan/codes.ts'
import type { Photo } from '../../src/console/page/scan/items.ts'
import { type Done, ScanTasks } from '../../src/console/page/scan/tasks.ts'
import { tinyPng } from '../support/gateway.ts'

const photo: Photo = { bytes: new Uint8Array(tinyPng).buffer, type: 'image/png' }
const scanned = (text: string): Code => ({ text, isScanned: true })
const slots = new Set(['A-01', 'A-02'])

/** The tasks of piet on a handheld that knows these slots; `disk.store` says whether it takes what was done. */
function deskWith(known: ReadonlySet<string> | 'unknown' = slots) {
  const kept: { readonly by: string; readonly done: Done; readonly photo: Photo | undefined }[] = []
  const said: string[] = []
  const disk = { store: async () => true }
  const tasks = new ScanTasks({
    draw: () => {},
    say: (words) => void said.push(words),
    isSlot: () => (known === 'unknown' ? undefined : (text) => known.has(text)),
    keep: async (by, done, photo) => {
      const isKept = await disk.store()
      if (isKept) kept.push({ by, done, photo })
      return isKept
    },
  })
  const scan = (...codes: string[]) => {
    for (const code of codes) tasks.take('piet', scanned(code))
  }
  const codes = () => {
    const { pallet, slot, found } = tasks.of('piet').filled
    return [pallet?.text, slot?.text, ...found.map(({ text }) => text)]
  }
  return { tasks, kept, said, disk, scan, codes, save: () => tasks.save('piet', 'REMOVED') }
}

t.test('a scan while the one before is being stored goes into the next task', async (t) => {
  const { tasks, kept, scan, codes, disk, save } = deskWith()
  const isStored = Promise.withResolvers<boolean>()
  disk.store = () => isStored.promise
  tasks.begin('piet', 'REMOVED')
  scan('P-1', 'A-01')
  const saved = save()
  scan('P-2', 'A-02')
  void save()
  isStored.resolve(true)
  await saved
  t.strictSame(codes(), ['P-2', 'A-02'])
  t.match(kept, [{ done: { body: { asset_barcode: 'P-1', slot_code: 'A-01' } } }])
})

t.test('a scan while one is being stored that cannot be stored is refused aloud, and the task stays', async (t) => {
  const { tasks, said, scan, codes, disk, save } = deskWith()
  const isStored = Promise.withResolvers<boolean>()
  disk.store = () => isStored.promise
  tasks.begin('piet', 'REMOVED')
  scan('P-1', 'A-01')
  const saved = save()
  scan('P-2')
  isStored.resolve(false)
  await saved
  t.strictSame(codes(), ['P-1', 'A-01'])
  t.match(said.at(-1), /^P-2 was NOT taken/)
})

t.test(
  'in a count a scan while the slot before could not be stored joins no slot, and NOT SAVED stays said',
  async (t) => {
    const { tasks, said, scan, codes, disk } = deskWith()
    const isStored = Promise.withResolvers<boolean>()
    disk.store = () => isStored.promise
    tasks.begin('piet', 'count')
    tasks.offer('piet', [{ id: 7, reference: 'Week 9' }])
    scan('A-01', 'P-1')
    const saved = tasks.save('piet', 'count')
    scan('P-2')
    isStored.resolve(false)
    await saved
    t.strictSame(codes(), [undefined, 'A-01', 'P-1'])
    t.match(said.at(-1), /^P-2 was NOT taken: .* NOT SAVED/)
  },
)

t.test('a task that is being stored is not given up by a sign-out', async (t) => {
  const { tasks, kept, scan, save } = deskWith()
  tasks.begin('piet', 'REMOVED')
  scan('P-1', 'A-01')
  const read = Promise.withResolvers<Photo>()
  void tasks.photograph('piet', read.promise)
  const saved = save()
  tasks.leave('piet')
  read.resolve(photo)
  await saved
  t.match(kept, [{ done: { body: { asset_barcode: 'P-1' } }, photo }])
})

t.test('a count that is only remembered gives way to the one that the gateway says is open', async (t) => {
  const { tasks, scan, codes, kept } = deskWith()
  const [yesterday, today] = [
    { id: 5, reference: 'Yesterday' },
    { id: 6, reference: 'Today' },
  ]
  scan('A-01')
  tasks.begin('piet', 'count')
  tasks.remember('piet', [yesterday])
  t.equal(tasks.of('piet').count, yesterday, 'without a network it is the one that was open last')
  tasks.offer('piet', [today])
  t.strictSame(codes(), [undefined, 'A-01'])
  await tasks.save('piet', 'count')
  t.match(kept[0]?.done, { path: '/api/whms/counts/6/scans' })
  tasks.choose('piet', yesterday)
  scan('A-02')
  tasks.offer('piet', [today])
  t.equal(tasks.of('piet').count, yesterday, 'what a person chose stays')
})

t.test('a photo that is still being read when Save is pressed belongs to that task', async (t) => {
  const { tasks, kept, scan, save } = deskWith()
  tasks.begin('piet', 'REMOVED')
  scan('P-1', 'A-01')
  const read = Promise.withResolvers<Photo>()
  void tasks.photograph('piet', read.promise)
  const saved = save()
  read.resolve(photo)
  await saved
  t.equal(kept[0]?.photo, photo)
  t.equal(tasks.of('piet').photo, undefined)
})

t.test('a photo of a task that was given up is not put to the next one', async (t) => {
  const { tasks } = deskWith()
  tasks.begin('piet', 'PLACED')
  const read = Promise.withResolvers<Photo>()
  const taken = tasks.photograph('piet', read.promise)
  tasks.leave('piet')
  tasks.begin('piet', 'PLACED')
  read.resolve(photo)
  await taken
  t.equal(tasks.of('piet').photo, undefined)
})

t.test('a code goes where it belongs, and never in the place of another one', async (t) => {
  const { tasks, said, scan, codes } = deskWith()
  tasks.begin('piet', 'PLACED')
  scan('A-01')
  t.strictSame(codes(), [undefined, 'A-01'], 'a slot that is scanned first is the slot')
  scan('P-1', 'P-1', 'A-01')
  t.strictSame(codes(), ['P-1', 'A-01'])
  t.notOk(said.some((words) => words !== ''))
  for (const code of ['P-2', 'A-02']) {
    scan(code)
    t.match(said.at(-1), /was NOT taken.*Save first/, code)
    t.strictSame(codes(), ['P-1', 'A-01'])
  }
  tasks.clear('piet', scanned('P-1'))
  scan('P-2')
  t.strictSame(codes(), ['P-2', 'A-01'])
})

t.test('a slot that this device does not know is said at once, and stays for the gateway to decide', async (t) => {
  const { tasks, said, scan, codes } = deskWith()
  tasks.begin('piet', 'REMOVED')
  scan('P-1', 'B-77')
  t.match(said.at(-1), /does not know a slot B-77/)
  t.strictSame(codes(), ['P-1', 'B-77'])
  scan('A-01')
  t.match(said.at(-1), /A-01 was NOT taken/)
  t.strictSame(codes(), ['P-1', 'B-77'])
})

t.test('a handheld that knows no slots takes the pallet first, then the slot, and no third code', async (t) => {
  const { tasks, said, scan, codes } = deskWith('unknown')
  tasks.begin('piet', 'REMOVED')
  scan('P-1', 'A-01', 'P-2')
  t.strictSame(codes(), ['P-1', 'A-01'])
  t.match(said.at(-1), /P-2 was NOT taken/)
})

t.test('in a count another slot is no pallet, and a code that was counted by mistake can be cleared', async (t) => {
  const { tasks, said, scan, codes, kept } = deskWith()
  tasks.begin('piet', 'count')
  tasks.offer('piet', [{ id: 7, reference: 'Week 9' }])
  scan('A-01', 'P-1', 'P-2', 'A-02')
  t.match(said.at(-1), /^A-02 was NOT taken: it is another slot/)
  tasks.clear('piet', scanned('P-1'))
  tasks.offer('piet', [{ id: 8, reference: 'Week 10' }])
  t.strictSame(codes(), [undefined, 'A-01', 'P-2'])
  await tasks.save('piet', 'count')
  t.match(kept[0]?.done, { path: '/api/whms/counts/7/scans', body: { slot_code: 'A-01', barcodes: ['P-2'] } })
})

t.test('what is scanned in front of the menu begins the next act', async (t) => {
  const { tasks, said, scan, codes } = deskWith()
  scan('P-1')
  scan('P-2')
  t.match(said.at(-1), /^P-2 was NOT taken: choose first/)
  tasks.begin('piet', 'PLACED')
  t.strictSame(codes(), ['P-1', undefined])
  tasks.leave('piet')
  t.ok(tasks.isIdle)
  scan('P-3')
  tasks.begin('piet', 'count')
  scan('A-01')
  t.strictSame(codes(), [undefined, 'A-01', 'P-3'])
})

t.test('each person has a task of their own', async (t) => {
  const { tasks, scan, codes } = deskWith()
  tasks.begin('piet', 'PLACED')
  scan('P-1')
  t.equal(tasks.of('olga').act, undefined)
  tasks.take('olga', scanned('P-9'))
  t.strictSame(codes(), ['P-1', undefined])
})

t.test('the page offers what a role may record', async (t) => {
  t.strictSame(actsOf('viewer'), [])
  t.strictSame(actsOf('operator'), ['PLACED', 'REMOVED', 'move', 'count'])
  t.strictSame(actsOf('supervisor'), ['PLACED', 'REMOVED', 'move', 'count', 'VERIFIED'])
})
