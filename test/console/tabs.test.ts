import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { joinTabs, type Tabs } from '../../src/console/page/data/tabs.ts'

type Tab = Tabs<string> & { readonly led: Promise<void>; readonly heard: string[] }

/** A tab that receives `nothing` after its leader was silent for 50 ms. It sends `known` to joining tabs, and every `everyMs`. */
function tab(known: string | undefined, everyMs = 1_000_000): Tab {
  const led = Promise.withResolvers<void>()
  const heard: string[] = []
  const tabs = joinTabs<string>({
    onLead: led.resolve,
    onNews: (news) => heard.push(news),
    onState: (news) => heard.push(`state ${news}`),
    state: () => known,
    onSilent: () => heard.push('nothing'),
    ...{ everyMs, silentMs: 50 },
  })
  if (!tabs) throw new Error('this Node has no locks')
  return { ...tabs, led: led.promise, heard }
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await turn()
}

t.test('one tab leads, the others hear it, and the next leads when it leaves', async (t) => {
  const first = tab('7')
  await first.led
  const second = tab('8')
  await until(() => second.heard.includes('state 7'))
  first.tell('a pallet came')
  second.tell('nobody asked')
  await until(() => second.heard.includes('a pallet came'))
  t.notOk(first.heard.includes('nobody asked'))
  first.leave()
  await second.led
  second.leave()
})

t.test('a tab whose leader says nothing any more does not go on believing that it is live', async (t) => {
  const leader = tab('7')
  await leader.led
  const other = tab(undefined)
  // On a busy machine the answer may take longer than the silence that is too long.
  await until(() => other.heard.indexOf('nothing', other.heard.indexOf('state 7')) > 0)
  t.equal(other.heard.filter((heard) => heard === 'state 7').length, 1)
  leader.leave()
  other.leave()
})

t.test('a leader says every few seconds that it is there', async (t) => {
  const leader = tab('7', 10)
  await leader.led
  const other = tab(undefined)
  const states = () => other.heard.filter((heard) => heard === 'state 7').length
  await until(() => states() > 8)
  t.ok(states() > 8, 'again and again, though nothing is new')
  leader.leave()
  other.leave()
})
