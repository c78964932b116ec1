/** Heat, power and wear of the box: as the kernel tells them, as metrics, and as alerts. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { heatFinding } from '../../src/doctor/findings/box.ts'
import { bytesWrittenHere, bytesWrittenTo, diskDevice, throttlingOf } from '../../src/platform/index.ts'
import { coolBox, people, type TestGateway, testGateway } from '../support/gateway.ts'

const minute = 60_000

/** A /sys with these files. */
function sysWith(t: Test, files: Record<string, string>): string {
  const sys = t.testdir({})
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(sys, name)), { recursive: true })
    writeFileSync(join(sys, name), text)
  }
  return sys
}

t.test('a processor that is slowed down is known by what the kernel of each kind of box says', async (t) => {
  const pi = (bits: string) =>
    throttlingOf(sysWith(t, { 'devices/platform/soc/soc:firmware/get_throttled': `${bits}\n` }))
  // Bit 0: under-voltage now, bit 2: throttled now, bits 16 to 19: the same since the start of the box.
  t.match(pi('0'), { throttled: false, wasThrottled: false, underVoltage: false })
  t.match(pi('50005'), { throttled: true, wasThrottled: true, underVoltage: true })
  t.match(pi('40004'), { throttled: true, wasThrottled: true, underVoltage: false })
  t.match(pi('10001'), { throttled: false, wasThrottled: false, underVoltage: true }, 'low voltage alone is no heat')
  t.match(pi('50000'), { throttled: false, wasThrottled: true, underVoltage: false })
  const cooling = (state: string) => ({
    'class/thermal/cooling_device0/type': 'Processor\n',
    'class/thermal/cooling_device0/cur_state': `${state}\n`,
    'class/thermal/cooling_device1/type': 'Fan\n',
    'class/thermal/cooling_device1/cur_state': '3\n',
  })
  t.match(throttlingOf(sysWith(t, cooling('2'))), { throttled: true, underVoltage: null })
  t.match(throttlingOf(sysWith(t, cooling('0'))), { throttled: false }, 'a fan that turns slows nothing down')
  const intel = { 'devices/system/cpu/cpu0/thermal_throttle/core_throttle_count': '7\n' }
  t.match(throttlingOf(sysWith(t, intel)), { throttled: false, wasThrottled: true, count: 7 })
  t.match(throttlingOf(sysWith(t, {})), { throttled: null, wasThrottled: null, underVoltage: null, count: null })
  t.match(heatFinding({ celsius: 50, ...pi('50005') }), { verdict: 'change', what: /power supply is too weak/ })
})

/** Lets time pass as the daemon does: the box is asked every half minute, and health looks after it. */
async function pass({ clock, health, metricsText }: TestGateway, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 30_000) {
    clock.advance(30_000)
    await metricsText()
    await health.look()
  }
}

t.test(
  'a box that is hot, slowed down or badly powered is told after its grace, and when it is well again',
  async (t) => {
    let now = coolBox
    const gateway = await testGateway({ heat: async () => now })
    t.teardown(() => gateway.end())
    const kinds = async () =>
      (await gateway.ask('GET', '/api/alerts', { by: people.ada })).body.data.map(({ kind }: { kind: string }) => kind)
    const metric = async (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(await gateway.metricsText())?.[1]
    now = { ...coolBox, temperatureCelsius: 84 }
    await pass(gateway, 9 * minute)
    t.same(await kinds(), [], 'nine minutes of heat are no alert')
    await pass(gateway, 2 * minute)
    t.same(await kinds(), ['box.hot'])
    t.equal(await metric('gatehouse_box_temperature_celsius'), '84')
    now = { ...now, throttled: true }
    await pass(gateway, 6 * minute)
    t.same(await kinds(), ['box.throttled', 'box.hot'])
    t.equal(await metric('gatehouse_box_throttled'), '1')
    t.match((await gateway.ask('GET', '/api/health')).body.checks.box, { status: 'degraded', reason: /slowed down/ })
    now = { ...coolBox, underVoltage: true }
    await pass(gateway, 2 * minute)
    t.same(await kinds(), ['box.voltage', 'box.cool', 'box.throttled', 'box.hot'])
    t.equal(await metric('gatehouse_box_under_voltage'), '1')
    // A counter of an Intel processor that grows between two looks: it was slowed down meanwhile.
    now = { ...coolBox, count: 7 }
    await pass(gateway, 30_000)
    t.equal(await metric('gatehouse_box_throttled'), '0')
    now = { ...coolBox, count: 8 }
    await pass(gateway, 30_000)
    t.equal(await metric('gatehouse_box_throttled'), '1')
    t.equal((await kinds())[0], 'box.powered')
  },
)

t.test('what is written to the disk is counted as the kernel counts it', async (t) => {
  // Documentation/block/stat.rst: the seventh field is sectors written, of 512 bytes each.
  const disk = sysWith(t, { stat: '  1 2 3 4 5 6 1000 8 9 10 11\n' })
  t.equal(bytesWrittenTo(disk), 512_000)
  t.equal(bytesWrittenTo(join(disk, 'none')), null)
  t.equal(diskDevice(0, disk), undefined)
  const proc = sysWith(t, { 'self/io': 'rchar: 1\nwrite_bytes: 4096\ncancelled_write_bytes: 5\n' })
  t.equal(bytesWrittenHere(proc), 4096)
  t.equal(bytesWrittenHere(join(proc, 'none')), null)
})
