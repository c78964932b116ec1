import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { joinTabs, type Tabs } from '../../src/console/page/tabs.ts'

type Tab = Tabs<string> & { readonly led: Promise<void>; readonly silent: Promise<void>; readonly heard: string[] }

/** A tab whose leader is silent after 50 ms; it says `known` to those who come, every 10 ms if it is asked to. */
function tab(known: string | undefined, everyMs = 1_000_000): Tab {
  const [led, silent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const heard: string[] = []
  const tabs = joinTabs<string>({
    onLead: led.resolve,
    onNews: (news) => heard.push(news),
    onState: (news) => heard.push(`state ${news}`),
    state: () => known,
    onSilent: silent.resolve,
    ...{ everyMs, silentMs: 50 },
  })
  if (!tabs) throw new Error('this Node has no locks')
  return { ...tabs, led: led.promise, silent: silent.promise, heard }
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
  t.same(first.heard, [])
  first.leave()
  await second.led
  second.leave()
})

t.test('a tab whose leader says nothing any more does not go on believing that it is live', async (t) => {
  const leader = tab('7')
  await leader.led
  const other = tab(undefined)
  await other.silent
  t.same(other.heard, ['state 7'])
  leader.leave()
  other.leave()
})

t.test('a leader says every few seconds that it is there', async (t) => {
  const leader = tab('7', 10)
  await leader.led
  const other = tab(undefined)
  await until(() => other.heard.length > 8)
  t.same(new Set(other.heard), new Set(['state 7']))
  leader.leave()
  other.leave()
})
