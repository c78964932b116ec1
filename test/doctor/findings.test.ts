import t from 'tap'
import { emmcLife, hoursSinceMade, smartLife, wearOf } from '../../src/doctor/facts/wear.ts'
import {
  clockFinding,
  diskFinding,
  ffmpegFinding,
  heatFinding,
  memoryFinding,
  wearFinding,
  yearsLeft,
} from '../../src/doctor/findings/box.ts'
import { streamFindings } from '../../src/doctor/findings/cameras.ts'
import { accountFinding, certificateFinding, serverFinding, uplinkFinding } from '../../src/doctor/findings/network.ts'
import {
  backupFinding,
  checkpointFinding,
  hubFindings,
  ledgerFinding,
  mediaFindings,
  reloadFinding,
  webhookFinding,
  witnessFindings,
} from '../../src/doctor/findings/records.ts'
import { configFindings, fileFindings } from '../../src/doctor/findings/settings.ts'
import type { FeedFinding } from '../../src/feed/index.ts'

const GiB = 1024 ** 3
const nowMs = Date.parse('2026-11-22T12:00:00Z')
const daysAgo = (days: number) => new Date(nowMs - days * 86_400_000).toISOString()

t.test("ffmpeg is good when it is the system's, and matters only where there are cameras", async (t) => {
  const system = { path: '/usr/bin/ffmpeg', origin: 'system', version: '7.1' } as const
  t.match(ffmpegFinding(system, 2), { verdict: 'good', what: /ffmpeg 7\.1 at \/usr\/bin\/ffmpeg/ })
  const bundled = { ...system, origin: 'bundled' } as const
  t.match(ffmpegFinding(bundled, 2), { verdict: 'change', next: /packages of the system/ })
  t.match(ffmpegFinding(bundled, 0), { verdict: 'note' })
  t.match(ffmpegFinding({ error: 'there is no ffmpeg in PATH' }, 1), { verdict: 'bad', what: /no ffmpeg in PATH/ })
  t.match(ffmpegFinding({ error: 'there is no ffmpeg in PATH' }, 0), { verdict: 'note' })
})

t.test('memory, heat and a processor that is slowed down are told with what to do', async (t) => {
  t.equal(memoryFinding({ totalBytes: 4 * GiB, availableBytes: GiB }).verdict, 'good')
  t.match(memoryFinding({ totalBytes: 4 * GiB, availableBytes: GiB / 8 }), { verdict: 'change', next: /memoryBytes/ })
  const cool = { celsius: 52, throttled: false, wasThrottled: false, underVoltage: false }
  t.match(heatFinding(cool), { verdict: 'good', what: /52 °C/ })
  t.match(heatFinding({ ...cool, celsius: 84 }), { verdict: 'change', what: /84 °C/ })
  t.match(heatFinding({ ...cool, throttled: true }), {
    verdict: 'change',
    what: /slowed down now/,
    next: /power supply/,
  })
  t.match(heatFinding({ ...cool, wasThrottled: true }), { verdict: 'note' })
  t.equal(heatFinding({ celsius: null, throttled: null, wasThrottled: null, underVoltage: null }).verdict, 'unknown')
})

t.test('a disk is judged by its limits, and by what it counts of its own wear', async (t) => {
  const disk = { freeBytes: 10 * GiB, minFreeBytes: 2 * GiB, ledgerReserveBytes: GiB / 4, fault: null }
  t.match(diskFinding(disk), { verdict: 'good', what: '10 GiB are free.' })
  t.equal(diskFinding({ ...disk, freeBytes: GiB }).verdict, 'change')
  t.match(diskFinding({ ...disk, freeBytes: GiB / 8 }), { verdict: 'bad', what: /photos and clips are refused/ })
  t.match(diskFinding({ ...disk, fault: 'SQLITE_IOERR' }), { verdict: 'bad', what: /SQLITE_IOERR/ })
  // 20 % in two years leaves eight.
  t.equal(yearsLeft(20, 2 * 365 * 24), 8)
  t.equal(yearsLeft(0, 1000), null)
  const wear = { device: 'sda', usedPercent: 20, powerOnHours: 17_520, isFailing: false, writtenPerDay: 3 * GiB }
  t.match(wearFinding(wear), { verdict: 'good', what: /20 % .* 8 more years\. 3 GiB a day/ })
  t.match(wearFinding({ ...wear, usedPercent: 85 }), { verdict: 'change', next: /gatehouse backup/ })
  const uncounted = wearFinding({ ...wear, powerOnHours: null }).what
  t.match(uncounted, /20 % .* does not count its hours, so the years left are not known/)
  t.match(wearFinding({ ...wear, isFailing: true }), { verdict: 'bad' })
  t.match(wearFinding({ ...wear, usedPercent: null }), { verdict: 'unknown', next: /smartmontools/ })
})

t.test('the wear of an eMMC and of an SSD is read as their standards write it', async (t) => {
  // JESD84-B51: 0x01 is up to 10 %, 0x0b beyond the estimated life; PRE_EOL_INFO 0x03 is urgent.
  t.strictSame(emmcLife('0x01 0x02\n', '0x01\n'), { usedPercent: 20, isFailing: false })
  t.strictSame(emmcLife('0x0b 0x01\n', '0x01\n'), { usedPercent: 100, isFailing: true })
  t.strictSame(emmcLife('0x02 0x02\n', '0x03\n'), { usedPercent: 20, isFailing: true })
  t.equal(emmcLife('0x00 0x00', undefined), undefined, 'not defined by the maker')
  // An eMMC counts no hours; it tells the month in which it was made.
  const madeMs = Date.UTC(2024, 2)
  t.equal(hoursSinceMade('03/2024\n', madeMs + 2 * 365 * 24 * 3_600_000), 17_520)
  for (const none of [undefined, '', '00/0000', '13.3.2024']) t.equal(hoursSinceMade(none, madeMs), null, String(none))
  const sys = t.testdir({
    dev: { block: { '179:0': t.fixture('symlink', '../../devices/mmcblk0') } },
    devices: {
      mmcblk0: {
        stat: '1 2 3 4 5 6 7 8 9 10 11',
        device: { life_time: '0x02 0x01', pre_eol_info: '0x01', date: '03/2024' },
      },
    },
  })
  const seen = await wearOf({ folder: '/', sys, device: 179 * 256, nowMs: madeMs + 2 * 365 * 24 * 3_600_000 })
  t.match(wearFinding(seen), {
    verdict: 'good',
    what: /20 % of its life are used up\. At this rate it lasts 8 more years/,
  })
  const nvme = {
    smart_status: { passed: true },
    power_on_time: { hours: 5000 },
    nvme_smart_health_information_log: { percentage_used: 7 },
  }
  t.strictSame(smartLife(JSON.stringify(nvme)), { usedPercent: 7, powerOnHours: 5000, isFailing: false })
  const ata = {
    smart_status: { passed: false },
    ata_smart_attributes: {
      table: [
        { id: 9, value: 99 },
        { id: 177, value: 91 },
      ],
    },
  }
  t.strictSame(smartLife(JSON.stringify(ata)), { usedPercent: 9, powerOnHours: null, isFailing: true })
  t.strictSame(smartLife('smartctl: no such device'), {})
})

t.test('a camera is bad with the reason, to be changed by each wrong property, or good with its facts', async (t) => {
  const seen = { id: 3, name: 'Dock', key: 'url', problem: null, measured: [], stranger: null } as const
  const refused = {
    what: 'The camera refuses the user name or the password.',
    hint: 'Check username and passwordFile.',
  }
  t.match(streamFindings({ ...seen, problem: refused }), [
    { subject: '3 (Dock)', verdict: 'bad', next: /passwordFile/ },
  ])
  const codec = { topic: 'codec', value: 'H.264', verdict: 'good', words: '' } as const
  const gop = {
    topic: 'key frame interval',
    value: '10 s',
    verdict: 'change',
    words: 'Set it to 1 or 2 seconds.',
  } as const
  t.match(streamFindings({ ...seen, key: 'detectUrl', measured: [codec, gop] }), [
    { subject: '3 (Dock), detectUrl', verdict: 'change', what: 'Key frame interval: 10 s.', next: gop.words },
  ])
  t.match(streamFindings({ ...seen, measured: [codec] }), [{ verdict: 'good', what: 'Codec: H.264.' }])
})

t.test('uplink, storage server, account and certificate each say what is wrong and what to do', async (t) => {
  t.equal(uplinkFinding({ probes: 1, online: true }, true).verdict, 'good')
  t.match(uplinkFinding({ probes: 2, online: false }, true), { verdict: 'bad', what: /None of 2 probes/ })
  t.strictSame(
    [true, false].map((needed) => uplinkFinding({ probes: 0, online: null }, needed).verdict),
    ['note', 'good'],
  )
  const server = { url: 'https://cloud.example', problem: null, tookMs: 40 }
  t.equal(serverFinding(server).verdict, 'good')
  t.match(serverFinding({ ...server, problem: 'HTTP 502' }), { verdict: 'bad', what: /HTTP 502/ })
  t.equal(serverFinding({ ...server, tookMs: 2100 }).verdict, 'change')
  const account = { username: 'gw', url: server.url, problem: null, isRefused: false, freeBytes: 50 * GiB }
  t.match(accountFinding(account), { verdict: 'good', what: /50 GiB are left/ })
  t.match(accountFinding({ ...account, freeBytes: GiB }), { verdict: 'change', next: /quota/ })
  t.match(accountFinding({ ...account, problem: 'HTTP 401', isRefused: true }), {
    verdict: 'bad',
    next: /new application password/,
  })
  const cert = { certFile: 'cert.pem', problem: null, daysLeft: 200, uncovered: [], chain: 'box-ca' } as const
  t.match(certificateFinding(cert), { verdict: 'good', what: /200 more days, by the authority of this box/ })
  t.match(certificateFinding({ ...cert, daysLeft: 12 }), { verdict: 'change', next: /gatehouse tls init/ })
  t.match(certificateFinding({ ...cert, daysLeft: -1 }), { verdict: 'bad', what: /ran out 1 day ago/ })
  t.match(certificateFinding({ ...cert, uncovered: ['gate.example'] }), { verdict: 'change', what: /gate\.example/ })
  t.match(certificateFinding({ ...cert, chain: 'incomplete' }), { verdict: 'bad', next: /intermediate/ })
})

t.test('the ledger, its signatures and its backups grow old, and are told when they did not match', async (t) => {
  const backup = {
    everySeconds: 86_400,
    media: true,
    newestAt: daysAgo(0.5),
    rehearsedAt: daysAgo(0.5),
    makeFault: null,
    rehearsalFault: null,
    segments: { everySeconds: null, currentAt: null, rehearsedAt: null, fault: null, rehearsalFault: null },
  }
  const ledger = { logId: 'l', leaves: 10, events: 10, lastEventAt: null, fileBytes: 1, lastCheck: null }
  const never = { ...backup, rehearsedAt: null }
  t.match(ledgerFinding({ ledger, backup: never }, nowMs), { verdict: 'note', next: /gatehouse ledger verify/ })
  t.match(ledgerFinding({ ledger, backup }, nowMs), { verdict: 'good' }, 'a rehearsal verifies all of it')
  const check = (at: string, ok: boolean) => ({
    ledger: { ...ledger, lastCheck: { at, ok, leaves: 10 } },
    backup: never,
  })
  t.equal(ledgerFinding(check(daysAgo(29), true), nowMs).verdict, 'good')
  t.equal(ledgerFinding(check(daysAgo(31), true), nowMs).verdict, 'note')
  t.match(ledgerFinding(check(daysAgo(1), false), nowMs), { verdict: 'bad', next: /restore a backup/ })
  t.equal(backupFinding({ backup }, nowMs).verdict, 'good')
  t.equal(backupFinding({ backup: { ...backup, newestAt: daysAgo(2.1) } }, nowMs).verdict, 'bad')
  t.match(backupFinding({ backup: { ...backup, rehearsalFault: 'it has another root' } }, nowMs), {
    verdict: 'bad',
    what: /another root/,
  })
  t.equal(backupFinding({ backup: { ...backup, everySeconds: null } }, nowMs).verdict, 'note')
  const segments = { ...backup.segments, everySeconds: 60, currentAt: daysAgo(0), rehearsedAt: daysAgo(0.5) }
  const only = (more: object) =>
    backupFinding({ backup: { ...backup, everySeconds: null, segments: { ...segments, ...more } } }, nowMs)
  t.match(only({}), { verdict: 'good', what: /is in segments/ })
  t.match(only({ rehearsedAt: null }), { verdict: 'good', what: /is in segments; not rehearsed yet\.$/ })
  t.match(backupFinding({ backup: never }, nowMs), { verdict: 'good', what: /made .* ago; not rehearsed yet\.$/ })
  t.match(only({ fault: 'the folder is not there' }), { verdict: 'bad', what: /the folder is not there/ })
  t.match(only({ rehearsalFault: 'segment 3 is missing' }), { verdict: 'bad', what: /segment 3 is missing/ })
  const checkpoint = { size: 10, signedAt: daysAgo(0), unsigned: 0, stopped: null }
  t.equal(checkpointFinding({ checkpoint, ledger }).verdict, 'good')
  t.equal(checkpointFinding({ checkpoint: { ...checkpoint, stopped: 'not-verified' }, ledger }).verdict, 'bad')
  const witness = { name: 'hub.example/w1', size: 9, cosignedAt: daysAgo(1), trouble: null }
  t.match(witnessFindings({ witnesses: [witness] }, nowMs), [
    { verdict: 'good', what: 'It cosigned leaf 9 1 day ago.' },
  ])
  t.match(witnessFindings({ witnesses: [{ ...witness, trouble: 'it refuses' }] }, nowMs), [{ verdict: 'change' }])
  t.match(witnessFindings({ witnesses: [] }, nowMs), [{ verdict: 'note' }])
})

t.test('photos and clips that are neither copied nor in backups are a reason to change something', async (t) => {
  const judged = ({
    media = false,
    every = 86_400 as number | null,
    segments = null as number | null,
    copied = false,
    left = [] as number[],
  }) =>
    mediaFindings({
      backup: { everySeconds: every, media, segments: { everySeconds: segments } },
      uploads: { configured: copied, camerasLeftOut: left },
    })
  t.match(judged({ media: true }), [{ verdict: 'good', what: 'Scheduled backups contain photos and clips.' }])
  t.match(judged({ media: true, copied: true, left: [3] }), [{ verdict: 'good' }])
  t.match(judged({ copied: true }), [
    { verdict: 'good', what: /copied to the storage server; scheduled backups contain none/ },
  ])
  t.match(judged({ copied: true, every: null }), [{ verdict: 'good', what: 'They are copied to the storage server.' }])
  t.match(judged({ copied: true, left: [3, 5] }), [
    {
      topic: 'photos and clips',
      verdict: 'change',
      what: /^Clips of cameras 3, 5 are on this box alone/,
      next: /uploadToStorage.*backup\.file\.media: true/,
    },
  ])
  t.match(judged({}), [
    { verdict: 'change', what: /on this box alone/, next: /backup\.file\.media: true.*storage\.upload/ },
  ])
  t.match(judged({ every: null, segments: 60 }), [
    { verdict: 'change', what: /segments contain none/, next: /backup\.file.*storage\.upload/ },
  ])
  t.match(judged({ every: null }), [{ verdict: 'note' }], 'the note about the ledger comes first')
})

t.test('the head office is well while it acknowledges; else the doctor says whose turn it is', async (t) => {
  t.same(hubFindings({ hub: null }, nowMs), [])
  const acknowledged = { acknowledged: 9, acknowledgedAt: daysAgo(1), lag: 0 }
  const hub = { url: 'https://hub.example', ...acknowledged, names: null, offer: null, trouble: null }
  t.match(hubFindings({ hub }, nowMs), [{ verdict: 'good', what: /has 9 leaves, acknowledged 1 day ago/ }])
  t.match(hubFindings({ hub: { ...hub, lag: 5000 } }, nowMs), [
    { verdict: 'note', what: /5,?000 leaves are on the way/ },
  ])
  t.match(hubFindings({ hub: { ...hub, acknowledged: null, lag: null } }, nowMs), [{ verdict: 'note' }])
  const troubled = (finding: FeedFinding) =>
    hubFindings({ hub: { ...hub, trouble: { finding, words: 'it answers', forSeconds: 7200 } } }, nowMs)
  t.match(troubled('unreachable'), [{ verdict: 'change', next: /Nothing is lost/ }])
  t.match(troubled('forked'), [{ verdict: 'bad', what: /for 2 hours: it answers/, next: /--accept-fork/ }])
  t.match(troubled('refused'), [{ verdict: 'bad', next: /gatehouse hub join/ }])
  t.match(troubled('unknown-key'), [{ verdict: 'bad', next: /restore --accept-fork.*hub join/ }])
  t.match(troubled('unvouched'), [{ verdict: 'bad', next: /^(?!.*accept-fork).*hub join/ }])
})

t.test('receivers, clock, reload, config and files need somebody only when something is wrong', async (t) => {
  const webhooks = { total: 2, failing: 0, slowed: 0, disabled: 0, paused: 0, pending: 3, offline: 0 }
  t.equal(webhookFinding({ webhooks }).verdict, 'good')
  t.match(webhookFinding({ webhooks: { ...webhooks, failing: 1 } }), { verdict: 'bad', next: /given up.*recover/ })
  t.match(webhookFinding({ webhooks: { ...webhooks, slowed: 1 } }), {
    verdict: 'change',
    what: /slowed down/,
    next: /given up.*recover/,
  })
  t.match(webhookFinding({ webhooks: { ...webhooks, disabled: 1 } }), { verdict: 'bad', what: /100 failed attempts/ })
  t.match(webhookFinding({ webhooks: { ...webhooks, paused: 1 } }), { verdict: 'note', what: /1 receiver of 2 paused/ })
  t.equal(webhookFinding({ webhooks: { ...webhooks, pending: 1001 } }).verdict, 'change')
  t.equal(clockFinding({ state: 'synchronized', source: 'chrony', offsetMs: 3 }).verdict, 'good')
  t.equal(clockFinding({ state: 'unknown', source: null, offsetMs: null }).verdict, 'change')
  t.match(clockFinding({ state: 'unsynchronized', source: 'chrony', offsetMs: null }), {
    verdict: 'bad',
    next: /chronyc/,
  })
  const config = { file: 'g.yaml', loadedAt: daysAgo(1), refused: null, waiting: [] }
  t.equal(reloadFinding({ config }, nowMs).verdict, 'good')
  t.match(reloadFinding({ config: { ...config, waiting: ['listen'] } }, nowMs), { verdict: 'change', what: /listen/ })
  t.equal(reloadFinding({ config: { ...config, refused: { at: daysAgo(1), problems: 'x' } } }, nowMs).verdict, 'bad')
  t.match(configFindings({ file: 'g.yaml', problems: ['g.yaml:1:2: a'], warnings: ['w'] }), [
    { verdict: 'bad' },
    { verdict: 'change' },
  ])
  const file = { path: '/etc/secret', isReadable: true, isOpen: true, isSecret: false }
  t.match(fileFindings([file], 'gatehouse'), [{ verdict: 'good' }], 'what is no secret may be open')
  t.match(fileFindings([{ ...file, isSecret: true }], 'gatehouse'), [
    { verdict: 'change', next: 'chmod o-rwx /etc/secret' },
  ])
  t.match(fileFindings([{ ...file, isReadable: false }], 'gatehouse'), [
    { verdict: 'bad', what: /runs as gatehouse, who cannot read/ },
  ])
})
