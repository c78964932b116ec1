import MailComposer from 'nodemailer/lib/mail-composer'
import SMTPConnection from 'nodemailer/lib/smtp-connection'
import { type Config, readSecretFile } from '../../config/index.ts'
import { errorMessage } from '../../platform/faults.ts'
import { answerBounds, type Clock, errorLine } from '../../platform/index.ts'
import type { Message } from '../message.ts'
import { attemptMs, failed, type Outcome } from './outcome.ts'
import { trustOf } from './trust.ts'

type Smtp = NonNullable<Config['alerts']['smtp']>

type MailNeeds = { readonly clock: Pick<Clock, 'after'>; readonly signal: AbortSignal }

/**
 * Sends one message to one address. Never rejects. The server has taken it once it answers the data with 250; when that answer is
 * lost, the message is sent again under the same Message-ID.
 */
export async function sendMail(
  smtp: Smtp,
  to: string,
  message: Message,
  { clock, signal }: MailNeeds,
): Promise<Outcome> {
  if (signal.aborted) return { kind: 'abandoned' }
  let password: string | undefined
  let connection: SMTPConnection
  try {
    password = smtp.passwordFile === null ? undefined : readSecretFile(smtp.passwordFile)
    connection = new SMTPConnection(connectionOptions(smtp))
  } catch (error) {
    return failed(errorMessage(error))
  }
  const raw = await rawMail(smtp.from, to, message)
  return new Promise((resolve) => {
    const settle = (outcome: Outcome) => {
      cancel()
      signal.removeEventListener('abort', abandon)
      resolve(outcome)
      // Both end the connection, which says nothing about the message any more.
      if (outcome.kind === 'sent') connection.quit()
      else connection.close()
    }
    const abandon = () => settle({ kind: 'abandoned' })
    const cancel = clock.after(attemptMs, () =>
      settle(failed(`the mail server did not finish within ${attemptMs / 1000} s`)),
    )
    const give = (error: Error) => settle(failedMail(error, password))
    signal.addEventListener('abort', abandon)
    connection.on('error', give)
    connection.once('end', () => settle(failed('the mail server closed the connection')))
    const send = () =>
      connection.send({ from: smtp.from, to: [to] }, raw, (error) => {
        if (error) return give(error)
        settle({ kind: 'sent' })
      })
    connection.connect((error) => {
      if (error) return give(error)
      if (smtp.username === null || password === undefined) return send()
      connection.login({ user: smtp.username, pass: password }, (refused) => (refused ? give(refused) : send()))
    })
  })
}

function connectionOptions({ host, port, security, caFile }: Smtp) {
  const secureContext = trustOf(caFile)
  return {
    ...{ host, port, secure: security === 'tls' },
    ...(security === 'starttls' && { requireTLS: true }),
    ...(security === 'none' && { ignoreTLS: true }),
    ...{ connectionTimeout: attemptMs, greetingTimeout: attemptMs, socketTimeout: attemptMs, socketCloseTimeout: 0 },
    maxResponseSize: answerBounds.mail.bytes,
    tls: { ...(secureContext && { secureContext }), minVersion: 'TLSv1.2' as const },
  }
}

/** Writes the whole message. Headers are encoded, so no text of an alert can add one. */
function rawMail(from: string, to: string, { title, linkedText, id, isUrgent }: Message): Promise<Buffer> {
  const mail = new MailComposer({
    ...{ from, to, subject: title, text: linkedText },
    messageId: `<${id}@${from.slice(from.lastIndexOf('@') + 1)}>`,
    headers: { 'Auto-Submitted': 'auto-generated' },
    ...(isUrgent && { priority: 'high' as const }),
    ...{ disableFileAccess: true, disableUrlAccess: true },
  })
  return mail.compile().build()
}

type SmtpError = Error & { readonly responseCode?: number; readonly code?: string }

/** An answer of 5xx to the recipient or the message is final. One to the sign-in is not: the password may be corrected. */
function failedMail(error: SmtpError, password: string | undefined): Outcome {
  const line = errorLine(error)
  const shown = password === undefined ? line : line.replaceAll(password, '…').replaceAll(base64(password), '…')
  const isRefusal = error.responseCode !== undefined && error.responseCode >= 500
  return failed(shown, isRefusal && (error.code === 'EENVELOPE' || error.code === 'EMESSAGE'))
}

const base64 = (text: string) => Buffer.from(text).toString('base64')
