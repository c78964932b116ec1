import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { checkConfig, formatProblem } from '../../src/config/index.ts'
import { gatehouse, runToEnd } from '../support/process.ts'

t.setTimeout(240_000)

/** Runs `gatehouse config check` and returns its lines without the folder. */
async function check(t: Test, alerts: string, files: Record<string, string> = {}) {
  const folder = t.testdir({})
  const hash = `scrypt:16384:8:1:${'c'.repeat(22)}:${'h'.repeat(43)}`
  const config = `site: { id: dc-7 }\nauth: { users: [{ username: ada, role: admin, secretHash: "${hash}" }] }\nalerts:\n${alerts}`
  for (const [name, text] of Object.entries({ 'gatehouse.yaml': config, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text, { mode: 0o600 })
  }
  const { code, stdout, stderr } = await runToEnd(gatehouse, ['config', 'check', join(folder, 'gatehouse.yaml')])
  return { code, lines: `${stdout}${stderr}`.replaceAll(`${folder}/`, '').split('\n').filter(Boolean) }
}

const smtp = '  smtp: { host: mail.example.com, username: gw, passwordFile: secrets/smtp, from: gw@example.com }\n'

t.test('channels of every kind are a config', async (t) => {
  const text = `${smtp}  channels:
    - { name: night, mail: { to: [dock@example.com] }, hours: ["Mo-Su 22:00-06:00"], escalateAfter: 15m }
    - { name: phones, webPush: {}, kinds: [camera.*, disk.full], severities: [critical] }
    - name: ntfy
      http:
        url: https://ntfy.example.com/dock
        headers: { Title: "{{title}}" }
        headerFiles: { Authorization: secrets/ntfy }
    - name: slack
      digest: 1h
      http:
        urlFile: secrets/slack
        headers: { Content-Type: application/json }
        body: |
          { "text": "{{ text }}", "n": [1, true] }
`
  const files = { 'secrets/smtp': 'a', 'secrets/ntfy': 'Bearer b', 'secrets/slack': 'https://hooks.example.com/T/B' }
  t.strictSame(await check(t, text, files), { code: 0, lines: ['gatehouse.yaml: ok'] })
})

t.test('a mistake is named with its place and the nearest right word', async (t) => {
  const cases: [string, RegExp][] = [
    [
      'channels: [{ name: a, http: { url: "https://x.example.com", body: "{{titel}}" } }]',
      /alerts\.channels\[0\]\.http\.body: \{\{titel\}\} is no field; did you mean \{\{title\}\}\?/,
    ],
    [
      'channels: [{ name: a, http: { url: "https://x.example.com", headers: { Title: "{{sevrity}}" } } }]',
      /http\.headers\.Title: \{\{sevrity\}\} is no field; did you mean \{\{severity\}\}\?/,
    ],
    [
      `channels: [{ name: a, http: { url: "https://x.example.com", body: '{"text": {{text}}}' } }]`,
      /http\.body: begins like JSON and is none/,
    ],
    [
      'channels: [{ name: a, http: { url: "https://x.example.com", body: "{{text}" } }]',
      /http\.body: has \{\{ or \}\}/,
    ],
    ['channels: [{ name: a, webPush: {}, kinds: [camera.ofline] }]', /kinds\[0\].*did you mean camera\.offline/],
    ['channels: [{ name: a, webPush: {}, severities: [criticall] }]', /severities\[0\].*did you mean critical/],
    ['channels: [{ name: a, webPush: {}, hours: ["Mo 25:00-26:00"] }]', /hours\[0\]: expected/],
    ['channels: [{ name: a }]', /channels\[0\]: needs mail, webPush or http/],
    ['channels: [{ name: a, mail: { to: [a@example.com] } }]', /channels\[0\]\.mail: needs alerts\.smtp/],
    ['channels: [{ name: a, http: {} }]', /http: needs url or urlFile/],
    [
      'channels: [{ name: a, webPush: {} }, { name: a, webPush: {} }]',
      /channels\[1\]\.name: entry 1 of the list has the same name/,
    ],
    [
      'channels: [{ name: a, http: { url: "https://x.example.com", headers: { Host: evil } } }]',
      /headers\.Host: is set by the gateway/,
    ],
    ['channels: [{ name: a, webPush: { poeple: [ada] } }]', /poeple: unknown key; did you mean people/],
    [
      'smtp: { host: mail.example.com, security: none, username: gw, passwordFile: secret, from: gw@example.com }',
      /smtp\.security: none would send the password in the clear/,
    ],
    [
      'smtp: { host: mail.example.com, from: gw@example.com, username: gw }',
      /smtp\.passwordFile: needed with username/,
    ],
    ['smtp: { host: mail.example.com, from: "gw@example.com>\\r\\nBcc: x" }', /smtp\.from: expected an e-mail address/],
  ]
  const file = join(t.testdir({ secret: 'x' }), 'gatehouse.yaml')
  for (const [text, expected] of cases) {
    writeFileSync(file, `site: { id: dc-7 }\nalerts:\n  ${text}\n`)
    t.match(checkConfig(file).problems.map(formatProblem).join('\n'), expected)
  }
})

t.test('a file with a secret that is missing is a fault', async (t) => {
  const { code, lines } = await check(t, smtp)
  t.not(code, 0)
  t.match(lines.join('\n'), /alerts\.smtp\.passwordFile: secrets\/smtp: there is no such file/)
})
