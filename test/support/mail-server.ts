import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Test } from 'tap'
import { certificate } from './receiver.ts'

/** A mail as the server took it. */
export type TakenMail = {
  readonly to: readonly string[]
  readonly isSecure: boolean
  readonly user: unknown
  /** Header and body, with quoted-printable resolved. */
  readonly text: string
}

export type MailServer = {
  readonly port: number
  readonly caFile: string
  readonly passwordFile: string
  readonly mails: readonly TakenMail[]
  /** Returns the error of the next mails; undefined: they are taken. */
  refuse(how: (to: string) => { readonly code: number; readonly message: string } | undefined): void
}

const password = 'a password of the mail server'

/** A real mail server on loopback, with a self-signed certificate. */
export async function startMailServer(t: Test, options: SMTPServerOptions = {}): Promise<MailServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-mail-'))
  const { key, cert } = await certificate()
  const [caFile, passwordFile] = [join(folder, 'ca.pem'), join(folder, 'password')]
  writeFileSync(caFile, cert)
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 })
  const mails: TakenMail[] = []
  let refusal: Parameters<MailServer['refuse']>[0] = () => undefined
  const server = new SMTPServer({
    ...{ key, cert, disableReverseLookup: true },
    onAuth: ({ username, password: given }, _, answer) =>
      given === password
        ? answer(null, { user: username })
        : answer(Object.assign(new Error('no'), { responseCode: 535 })),
    onRcptTo: ({ address }, _, answer) => {
      const found = refusal(address)
      answer(found ? Object.assign(new Error(found.message), { responseCode: found.code }) : null)
    },
    onData: (stream, session, answer) => {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        const text = readable(Buffer.concat(parts).toString('utf8'))
        mails.push({ to, isSecure: session.secure, user: session.user, text })
        answer(null)
      })
    },
    ...options,
  })
  // A client that gives up resets the connection.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(async () => {
    await new Promise<void>((resolve) => server.close(() => resolve()))
    rmSync(folder, { recursive: true, force: true })
  })
  const { port } = server.server.address() as AddressInfo
  return { port, caFile, passwordFile, mails, refuse: (how) => (refusal = how) }
}

/** Resolves the encodings of a mail, as far as texts of alerts need them. */
function readable(raw: string): string {
  const [head = '', ...body] = raw.replaceAll('\r\n', '\n').split('\n\n')
  const decoded = body
    .join('\n\n')
    .replaceAll('=\n', '')
    .replace(/(=[0-9A-F]{2})+/g, (bytes) => Buffer.from(bytes.replaceAll('=', ''), 'hex').toString('utf8'))
  const isBase64 = /^content-transfer-encoding: base64$/im.test(head)
  return `${head}\n\n${isBase64 ? Buffer.from(body.join(''), 'base64').toString('utf8') : decoded}`
}
