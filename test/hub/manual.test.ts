/** The page *Head office* of the manual, played with a real PostgreSQL and one gateway. */
import { cpSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { postgresBin } from '../../scripts/bench/postgres.ts'
import { blocksOf, type ManualBox, manualBox, putFile } from '../support/manual-box.ts'
import { fileOf, isShell, manualPlayer, yamlOf } from '../support/manual-play.ts'
import { fileNeeds } from '../support/needs.ts'
import { startPostgres } from '../support/postgres.ts'
import { eventually } from '../support/waiting.ts'

fileNeeds(t, 'postgresql', 'curl', 'openssl')
t.setTimeout(600_000)

const page = 'head-office'
const database = await startPostgres(t)
const office = await manualBox()
const gateway = await manualBox()
t.teardown(async () => {
  await gateway.end()
  await office.end()
})

/** PostgreSQL listens at its socket alone, and `sudo -u postgres` is its superuser. */
const env = {
  PGHOST: database.folder,
  PGUSER: 'super',
  PGDATABASE: 'postgres',
  PATH: `${office.at('bin')}:${postgresBin()}:${process.env['PATH']}`,
}
const isApt = (line: string) => /^sudo apt /.test(line)
const atOffice = manualPlayer(() => office, isApt)
const atGateway = manualPlayer(() => gateway, isApt)
const toOffice = { 'https://hub.example:8443': office.url }
const play = (t: Test, heading: string, nth = 0, more: Parameters<typeof atOffice.play>[3] = {}) =>
  atOffice.play(t, page, heading, { nth, ...more, env: { ...env, ...more.env } })
const must = async (t: Test, box: ManualBox, script: string) => {
  const { code, stdout, stderr } = await box.run(script, box === office ? { env } : {})
  t.equal(code, 0, `${script}\n${stdout}${stderr}`)
  return stdout
}

/** Returns the commands that the page has in its text and tables. */
const inText = [...readFileSync(fileOf(page), 'utf8').matchAll(/`(sudo [^`\n]+)`/g)].map(([, span = '']) => span)

/** Returns the first command of the text that begins so. */
function textCommand(start: string): string {
  const found = inText.find((span) => span.startsWith(start))
  if (found === undefined) throw new Error(`${fileOf(page)} says no "${start}"`)
  return found
}

/** Places a pallet in a slot. */
const place = (slot: string, barcode: string) =>
  `curl -s --fail-with-body -H 'Authorization: Bearer ${adminSecret}' -H 'X-Storage-Instance: ${gateway.localUrl}' \
  -H 'X-Storage-Username: adam' -H 'Content-Type: application/json' -H 'Idempotency-Key: ${slot}' ${gateway.localUrl}/api/whms/events \
  -d '{"event_type":"PLACED","slot_code":"${slot}","asset_barcode":"${barcode}","photo_url":"https://photos.example/1.jpg"}'`

/** Reads what `credential` prints: the secret, and the file with the account. */
function accountIn(stdout: string): { secret: string; config: string } {
  const [, secret = ''] = /secret \(shown once\): (\S+)/.exec(stdout) ?? []
  const [entry = ''] = /^ {2}- .*$/m.exec(stdout) ?? []
  return { secret, config: `auth:\n  users:\n  ${entry}\n` }
}

let adminSecret = ''
let secret = ''
/** Searches a pallet by the command of the page until the head office knows it. */
async function findsPallet(t: Test, barcode: string): Promise<void> {
  const example = '00106141410000000002'
  const script = atOffice.typed(page, 'Ask over all sites', {
    edits: { 'hub.example': 'localhost', [example]: barcode },
  })
  const found = await eventually(
    () => office.run(script, { env: { ...env, SECRET: secret } }),
    ({ stdout }) => stdout.includes('"state":"here"'),
  )
  t.match(found.stdout, /"siteId":"dc-7"|dc-7/)
}

t.test('a head office is installed, a gateway joins, and every pallet is found', async (t) => {
  const install = 'Install the head office'
  atOffice.typed(page, install)
  await play(t, install, 1)
  await play(t, install, 2)
  const { port } = new URL(office.url)
  putFile(
    office,
    'etc/gatehouse/hub.yaml',
    yamlOf(page, install)
      .replace('hub.example:8443', `localhost:${port}`)
      .replace('port: 8443', `port: ${port}`)
      .replace('dataDir: ', `dataDir: ${office.folder}`)
      .replaceAll('@127.0.0.1/hub', `@/hub?host=${database.folder}`),
  )
  await play(t, install, 3, { edits: { 'hub.example': 'localhost' } })
  await play(t, install, 4, { says: /hub_read has its rights/ })
  const made = await play(t, install, 5)
  const dora = accountIn(made.stdout)
  secret = dora.secret
  putFile(office, 'etc/gatehouse/hub.conf.d/60-users.yaml', dora.config)
  await play(t, install, 6, { edits: { 'hub.example': 'localhost' }, says: /"status":"healthy"/ })

  const own = new URL(gateway.localUrl).port
  putFile(
    gateway,
    'etc/gatehouse/conf.d/10-site.yaml',
    `site: { url: "${gateway.localUrl}" }\nlisten: [{ host: 127.0.0.1, port: ${own} }]\n`,
  )
  const adam = accountIn(await must(t, gateway, 'gatehouse credential --username adam --role admin'))
  adminSecret = adam.secret
  putFile(gateway, 'etc/gatehouse/conf.d/60-users.yaml', adam.config)
  await must(t, gateway, 'systemctl enable --now gatehouse')
  await must(t, gateway, "gatehouse warehouse add --name 'Hall 7' --timezone Europe/Berlin")
  await must(t, gateway, `printf '%s\\n' slot_id A-1-1 A-1-2 A-1-3 >slots.csv`)
  await must(t, gateway, "gatehouse import slots slots.csv --warehouse 'Hall 7' --grid --create-zones")
  await must(t, gateway, place('A-1-1', 'P-1'))

  const { stdout } = await play(t, 'Pair a gateway')
  const code = /--code (\S+)/.exec(stdout)?.[1] ?? ''
  await atGateway.play(t, page, 'Pair a gateway', {
    nth: 1,
    edits: { ...toOffice, CODE: code },
    says: /joined /,
  })
  cpSync(office.at('etc/gatehouse/tls/ca.pem'), office.at('home/ca.pem'))
  await findsPallet(t, 'P-1')
  t.match(await must(t, gateway, textCommand('sudo gatehouse status')), /head office.*acknowledged/)
})

t.test('the head office burns, and comes back from its backup', async (t) => {
  await play(t, 'Back up and restore')
  await must(t, gateway, place('A-1-2', 'P-2'))
  await findsPallet(t, 'P-2')
  await must(t, office, 'systemctl stop gatehouse-hub; rm -r /var/lib/gatehouse-hub')
  await database.ask('postgres', 'DROP DATABASE hub')
  for (const role of ['hub_app', 'hub_read', 'hub_owner']) await database.ask('postgres', `DROP ROLE ${role}`)
  await play(t, 'Install the head office', 2)
  await play(t, 'Back up and restore', 1)
  await findsPallet(t, 'P-1')
  // With its next event, or its sign of life every 5 minutes, the gateway sends what came after the backup again.
  await must(t, gateway, place('A-1-3', 'P-3'))
  for (const barcode of ['P-2', 'P-3']) await findsPallet(t, barcode)
})

t.test('a version is offered, and a stolen box is locked out and its site closed', async (t) => {
  const offer = textCommand('sudo gatehouse hub offer 1.4.2')
  t.match(await must(t, office, offer.replace('1.4.2', '99.0.1 --first dc-7')), /99\.0\.1[\s\S]*1 of 3/)
  const shown = offer.replace(' 1.4.2', '')
  t.match(await must(t, office, shown), /dc-7/)
  t.match(await must(t, office, `${shown} --next --anyway`), /2 of 3|99\.0\.1/)
  await must(t, office, `${shown} --end`)
  await must(t, office, textCommand("sudo -u postgres psql hub -c 'VACUUM opening'"))
  await must(t, office, textCommand('sudo gatehouse hub revoke'))
  await must(t, office, textCommand('sudo gatehouse hub retire --site'))
})

t.test('each block of commands of the page was played', (t) => {
  for (const block of blocksOf(fileOf(page)).filter(isShell))
    t.ok(
      [atOffice, atGateway].some((one) => one.hasPlayed(page, block)),
      `${fileOf(page)}:${block.line}`,
    )
  t.end()
})
