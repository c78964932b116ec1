import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { siteUrl } from '../support/gateway.ts'
import { runningBox } from '../support/running.ts'

const reader = join(import.meta.dirname, '../../firmware/root/usr/lib/gatehouse-appliance/scale-reader')

t.test('what a scale sends through its serial port is a reading in the gateway, once for each weighing', async (t) => {
  const box = await runningBox(t)
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-scale-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'credentials'))
  writeFileSync(join(folder, 'credentials/secret'), 'ada-secret\n', { mode: 0o600 })
  const config = join(folder, 'dock-1.conf')
  writeFileSync(config, `scale=dock-1\nusername=ada\ninstance=${siteUrl}\nurl=${box.url}\n`)
  // script gives the reader a pseudo terminal, which behaves as a serial port does, and types into it what we send.
  const inside = `echo device=$(tty) >> ${config}; exec ${reader} ${config}`
  const port = spawn('script', ['-qfec', inside, '/dev/null'], {
    env: { ...process.env, CREDENTIALS_DIRECTORY: join(folder, 'credentials') },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.teardown(() => port.kill())
  let said = ''
  port.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  while (!said.includes('reading /dev/')) await pause(20)
  const weighed = (kg: string) => `US,GS,+  99.0kg\r\nST,GS,+ ${kg}kg\r\nST,GS,+ ${kg}kg\r\nST,GS,+   0.0kg\r\n`
  port.stdin.write(weighed('412.5') + weighed('18.25'))
  const list = async () => {
    const answer = await fetch(`${box.url}/api/iot/scale-readings?scaleId=dock-1`, { headers: box.headers })
    return ((await answer.json()) as { data: { weightKg: number; stable: boolean; actor: string }[] }).data
  }
  while ((await list()).length < 2) await pause(50)
  port.stdin.write(weighed('7.125'))
  while ((await list()).length < 3) await pause(50)
  t.match(await list(), [
    { weightKg: 7.125, stable: true },
    { weightKg: 18.25, stable: true },
    { weightKg: 412.5, stable: true, actor: 'ada' },
  ])
})
