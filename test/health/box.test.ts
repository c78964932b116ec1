/** Heat, power and wear of the box: as the kernel tells them, as metrics, and as alerts. */
import fs, { mkdirSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { heatFinding } from '../../src/doctor/findings/box.ts'
import { Thermometer } from '../../src/health/thermometer.ts'
import {
  bytesWrittenHere,
  bytesWrittenTo,
  diskDevice,
  processorCelsius,
  throttlingOf,
} from '../../src/platform/index.ts'
import { coolBox, people, type TestGateway, testGateway } from '../support/gateway.ts'
import { SimulatedClock } from '../support/simulated-clock.ts'

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

t.test('a gateway that starts asks the box how it is once it has answered for a second', async (t) => {
  let asked = 0
  const heat = async () => {
    asked += 1
    return coolBox
  }
  const gateway = await testGateway({ heat, timeServices: { ask: async () => undefined } })
  t.teardown(() => gateway.end())
  for (const worker of gateway.workers) {
    await worker.start?.()
    t.teardown(() => worker.stop?.())
  }
  gateway.clock.advance(900)
  t.equal(asked, 0, 'not while it starts')
  gateway.clock.advance(200)
  t.equal(asked, 1, 'once for all who want to know')
})

/** Lets time pass as the daemon does: every half minute it reads the sensors of the box, then health checks. */
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
    t.match((await gateway.ask('GET', '/api/health', { by: people.ada })).body.checks.box, {
      status: 'degraded',
      reason: /slowed down/,
    })
    t.match((await gateway.ask('GET', '/api/health', { by: people.vera })).body, { status: 'degraded' })
    const { status, body } = await gateway.ask('GET', '/api/health')
    t.strictSame([status, body.status], [200, 'healthy'], 'a stranger sees no check of the box, so it counts for none')
    for (const [part, check] of Object.entries(body.checks)) t.match(check, { status: 'healthy' }, part)
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

const sensorsOf = (device: string, sensors: readonly (readonly [label: string, thousandths: string])[]) =>
  Object.fromEntries(
    sensors.flatMap(([label, thousandths], i) => [
      [`class/hwmon/${device}/temp${i + 1}_label`, `${label}\n`],
      [`class/hwmon/${device}/temp${i + 1}_input`, `${thousandths}\n`],
    ]),
  )

t.test('the temperature of the processor is what the kernel of each kind of box says', async (t) => {
  const celsius = (files: Record<string, string>) => processorCelsius(sysWith(t, files))
  // Documentation/hwmon/coretemp.rst, k10temp.rst, sysfs-interface.rst: thousandths of a degree.
  const cores = [
    ['Core 0', '61000'],
    ['Core 1', '64100'],
  ] as const
  const intel = { 'class/hwmon/hwmon0/name': 'nvme\n', ...sensorsOf('hwmon1', [['Package id 0', '65000'], ...cores]) }
  t.equal(celsius(intel), 65)
  t.equal(celsius(sensorsOf('hwmon1', cores)), 62.6, 'without a package the mean of its cores')
  const amd = [
    ['Tctl', '92125'],
    ['Tdie', '65125'],
  ] as const
  t.equal(celsius(sensorsOf('hwmon2', amd)), 65.1, 'Tctl of some AMD processors is 27 degrees above the die')
  t.equal(celsius(sensorsOf('hwmon2', [['Tctl', '71375']])), 71.4)
  const pi = {
    'class/hwmon/hwmon0/temp1_input': '48312\n',
    'class/thermal/thermal_zone0/type': 'acpitz\n',
    'class/thermal/thermal_zone0/temp': '20000\n',
    'class/thermal/thermal_zone1/type': 'cpu-thermal\n',
    'class/thermal/thermal_zone1/temp': '48312\n',
  }
  t.equal(celsius(pi), 48.3)
  const zones = (...types: string[]) =>
    Object.fromEntries(
      types.flatMap((type, i) => [
        [`class/thermal/thermal_zone${i}/type`, `${type}\n`],
        [`class/thermal/thermal_zone${i}/temp`, `${41_000 + 1000 * i}\n`],
      ]),
    )
  t.equal(celsius(zones('gpu-thermal', 'soc-thermal')), 42, 'an RK3588 has a zone of the whole chip')
  t.equal(celsius(zones('soc-thermal', 'cpu-thermal')), 42, 'the processor before the chip')
  t.equal(celsius(sensorsOf('hwmon0', [['Composite', '38850']])), undefined, 'an SSD is no processor')
  t.equal(celsius(sensorsOf('hwmon0', [['Package id 0', '']])), undefined, 'a sensor that does not answer')
  t.equal(celsius({}), undefined)
})

/** Returns the files that `work` opens. */
function openedBy(sys: string, work: () => unknown): string[] {
  const opened: string[] = []
  const read = fs.readFileSync
  fs.readFileSync = ((...args: Parameters<typeof read>) => {
    opened.push(String(args[0]).slice(sys.length + 1))
    return read(...args)
  }) as typeof read
  syncBuiltinESMExports()
  try {
    work()
  } finally {
    fs.readFileSync = read
    syncBuiltinESMExports()
  }
  return opened
}

t.test('to know the temperature of the processor, no disk is asked for its own', async (t) => {
  // Documentation/hwmon/sysfs-interface.rst. To read temp1_input of an NVMe disk sends it a command (drivers/nvme/host/hwmon.c).
  const disk = sensorsOf('hwmon0', [
    ['Composite', '38850'],
    ['Sensor 1', '41850'],
  ])
  for (const [label, what] of [
    ['Package id 0', 'a whole processor'],
    ['Core 0', 'cores alone'],
  ] as const) {
    const sys = sysWith(t, { ...disk, ...sensorsOf('hwmon1', [[label, '65000']]) })
    const opened = openedBy(sys, () => t.equal(processorCelsius(sys), 65))
    t.same(
      opened.filter((name) => name.endsWith('_input')),
      ['class/hwmon/hwmon1/temp1_input'],
      what,
    )
  }
  const sys = sysWith(t, disk)
  t.notMatch(openedBy(sys, () => t.equal(processorCelsius(sys), undefined)).join(), '_input')
})

t.test('no program is started for the temperature where the kernel tells it, else one in ten minutes', async (t) => {
  const clock = new SimulatedClock(0)
  let asked = 0
  const askPrograms = async () => {
    asked += 1
    return asked === 1 ? 55 : null
  }
  const files = sensorsOf('hwmon0', [['Package id 0', '65000']])
  const withSensor = new Thermometer({ clock, sys: sysWith(t, files), askPrograms })
  t.equal(await withSensor.celsius(), 65)
  t.equal(asked, 0)
  const without = new Thermometer({ clock, sys: sysWith(t, {}), askPrograms })
  const taken: unknown[] = []
  for (let n = 0; n < 60; n += 1) {
    taken.push(await without.celsius())
    clock.advance(10_000)
  }
  t.strictSame([...new Set(taken)], [55])
  t.equal(asked, 1, 'sixty looks in ten minutes')
  t.equal(await without.celsius(), undefined, 'what no program tells any more is not told')
  t.equal(asked, 2)
})

t.test('one hot reading of the programs is no ten minutes of heat', async (t) => {
  const clock = new SimulatedClock(0)
  const readings = [84, 62]
  let asked = 0
  const askPrograms = async () => readings[asked++] ?? 62
  const thermometer = new Thermometer({ clock, sys: sysWith(t, {}), askPrograms })
  const taken: unknown[] = []
  for (let n = 0; n < 18; n += 1) {
    taken.push(await thermometer.celsius())
    clock.advance(30_000)
  }
  t.same(taken, [84, 84, ...Array.from({ length: 16 }, () => 62)], 'asked again after a minute')
  t.equal(asked, 2, 'and no more, once it is cool')
})
