import t from 'tap'
import { chronyReport, ntpdReport, timesyncReport } from '../../src/platform/clock/time-services.ts'

/** As `chronyc -c tracking` of chrony 4.3 (Debian 12) printed it. */
const chrony = {
  ownReference:
    '7F7F0101,,10,1795351909.610758280,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,0.000000000,0.000000000,0.0,Normal\n',
  following:
    '7F000001,127.0.0.1,11,1795351919.354228336,-0.000001496,0.000000067,0.000000721,-0.029,0.003,0.201,0.000006534,0.000001641,1.0,Normal\n',
  withoutServer:
    '00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,0.0,Not synchronised\n',
}

/** As `ntpq -c rv` of ntpsec 1.2.2 (Debian 12) printed it. */
const ntpd = {
  unsynchronized: `associd=0 status=c016 leap_alarm, sync_unspec, 1 event, restart,
leap=11, stratum=16, precision=-24, rootdelay=0.0, rootdisp=0.405,
refid=INIT, reftime=00000000.00000000 2036-02-07T06:28:16.000Z, tc=0, peer=0,
offset=0.0, frequency=0.0, sys_jitter=0.0, clk_jitter=6e-05,
clock=eead64f8.f0d372a0 2026-11-22T12:56:24.940Z, processor="x86_64",
system="Linux/6.18.44", version="ntpd ntpsec-1.2.2", clk_wander=0.0,
mintc=0
`,
  synchronized: `associd=0 status=0514 leap_none, sync_local, 1 event, freq_mode,
leap=00, stratum=6, precision=-24, rootdelay=0.0, rootdisp=10.146,
refid=127.127.1.0, reftime=eead65ad.e4d73f6e 2026-11-22T12:59:25.893Z, tc=3,
peer=17767, offset=0.0, frequency=0.0, sys_jitter=0.0, clk_jitter=3.1e-05,
clock=eead65b0.2a7e4caa 2026-11-22T12:59:28.165Z, processor="x86_64",
system="Linux/6.18.44", version="ntpd ntpsec-1.2.2", clk_wander=0.0,
mintc=0
`,
  notRunning: '***Socket error; probably ntpd is not running\n\n',
}

/** As `busctl get-property … NTPMessage` of systemd-timesyncd 252.38 (Debian 12) printed it. */
const message =
  '(uuuuittayttttbtt) 0 4 4 10 -26 0 0 4 127 127 1 1 1795352185540597 1795352185540867 1795352185541068 1795352185541165 false 1 0\n'
const receivedMs = 1795352185541

t.test('chrony says whether it follows a server, which, and how far this clock is from it', async (t) => {
  t.strictSame(chronyReport(chrony.following), {
    ...{ source: 'chrony', isSynchronized: true, server: '127.0.0.1', stratum: 11, offsetMs: 0.001 },
  })
  t.match(chronyReport(chrony.ownReference), { isSynchronized: true, server: null, stratum: 10, offsetMs: 0 })
  const lost = { source: 'chrony', isSynchronized: false, server: null, stratum: null, offsetMs: null }
  t.strictSame(chronyReport(chrony.withoutServer), lost)
  t.match(chronyReport(chrony.following.replace('0.000001641', '1.5')), { isSynchronized: false }, 'long without it')
  t.match(chronyReport(chrony.following.replace('-0.000001496', '0.25')), { offsetMs: -250 }, 'a slow clock')
  t.equal(chronyReport('506 Cannot talk to daemon\n'), undefined, 'no daemon, no statement')
})

t.test('ntpd says the same, in its own words', async (t) => {
  t.strictSame(ntpdReport(ntpd.synchronized), {
    ...{ source: 'ntpd', isSynchronized: true, server: '127.127.1.0', stratum: 6, offsetMs: 0 },
  })
  const lost = { source: 'ntpd', isSynchronized: false, server: null, stratum: null, offsetMs: null }
  t.strictSame(ntpdReport(ntpd.unsynchronized), lost)
  const behind = ntpd.synchronized.replace('offset=0.0', 'offset=12.5')
  t.match(ntpdReport(behind), { offsetMs: -12.5 }, 'the server is ahead')
  t.match(ntpdReport(ntpd.synchronized.replace('rootdisp=10.146', 'rootdisp=2500.1')), { isSynchronized: false })
  t.equal(ntpdReport(ntpd.notRunning), undefined)
})

t.test('that timesyncd was synchronized once since the boot does not say that it still is', async (t) => {
  const nothing = { wasSynchronized: true, kernel: undefined, message: undefined, server: undefined }
  t.match(timesyncReport(nothing, receivedMs), { source: 'timesyncd', isSynchronized: null, offsetMs: null })
  t.match(timesyncReport({ ...nothing, wasSynchronized: false }, receivedMs), { isSynchronized: false })
  const kernel = 'NTP=yes\nNTPSynchronized=no\n'
  t.match(timesyncReport({ ...nothing, kernel, message }, receivedMs), { isSynchronized: false }, 'the kernel knows')
  t.match(timesyncReport({ ...nothing, kernel: 'NTP=yes\nNTPSynchronized=yes\n' }, receivedMs), {
    isSynchronized: true,
    offsetMs: null,
  })
  // RFC 5905: ((T2 - T1) + (T3 - T4)) / 2 = (270 - 97) / 2 = 86.5 µs, by which the server is ahead.
  t.match(timesyncReport({ ...nothing, message, server: 's "127.0.0.2"\n' }, receivedMs), {
    ...{ isSynchronized: true, server: '127.0.0.2', stratum: 10, offsetMs: -0.086 },
  })
  const hours = (n: number) => receivedMs + n * 3_600_000
  t.match(timesyncReport({ ...nothing, message }, hours(1)), { isSynchronized: true })
  t.match(timesyncReport({ ...nothing, message }, hours(2)), { isSynchronized: false }, 'three answers are missing')
})
