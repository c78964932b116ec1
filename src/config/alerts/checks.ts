import { type CrossCheck, field, listOf, tell } from '../cross-checks.ts'
import { isLoopback } from '../kinds.ts'
import { templateProblem } from './template.ts'

const ways = ['mail', 'webPush', 'http'] as const

/** Refuses a channel that reaches no one. */
export const channelHasWay: CrossCheck = (channel, context) => {
  if (ways.some((way) => typeof field(channel, way) === 'object' && field(channel, way) !== null)) return
  tell(context, [], 'needs mail, webPush or http')
}

/** Refuses e-mail without a mail server. */
export const channelHasServer: CrossCheck = (alerts, context) => {
  if (field(alerts, 'smtp')) return
  for (const [index, channel] of listOf(field(alerts, 'channels')).entries()) {
    if (field(channel, 'mail')) tell(context, ['channels', index, 'mail'], 'needs alerts.smtp, with the mail server')
  }
}

/** Refuses half an account, and a password that would cross the network in the clear. */
export const smtpHidesPassword: CrossCheck = (smtp, context) => {
  const [username, passwordFile] = [field(smtp, 'username'), field(smtp, 'passwordFile')]
  if (typeof username === 'string' && typeof passwordFile !== 'string')
    return tell(context, ['passwordFile'], 'needed with username')
  if (typeof passwordFile !== 'string') return
  if (typeof username !== 'string') return tell(context, ['passwordFile'], 'needs username beside it')
  const host = field(smtp, 'host')
  if (field(smtp, 'security') !== 'none' || typeof host !== 'string' || isLoopback(host)) return
  tell(context, ['security'], 'none would send the password in the clear; use starttls or tls')
}

export const httpHasOneUrl: CrossCheck = (http, context) => {
  const count = ['url', 'urlFile'].filter((key) => typeof field(http, key) === 'string').length
  if (count !== 1) tell(context, [], count === 0 ? 'needs url or urlFile' : 'has url and urlFile; keep one of them')
}

/** Headers that the gateway sets itself. */
const own = ['host', 'content-length', 'connection', 'transfer-encoding']
const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/

/** Refuses templates with unknown fields, and headers that cannot be sent. */
export const templatesFit: CrossCheck = (http, context) => {
  const check = (path: string[], text: unknown) => {
    const problem = typeof text === 'string' ? templateProblem(text) : undefined
    if (problem !== undefined) tell(context, path, problem)
  }
  check(['body'], field(http, 'body'))
  for (const list of ['headers', 'headerFiles']) {
    for (const [name, text] of Object.entries(field(http, list) ?? {})) {
      if (!headerName.test(name)) tell(context, [list, name], 'expected the name of a header')
      else if (own.includes(name.toLowerCase())) tell(context, [list, name], 'is set by the gateway')
      if (list !== 'headers') continue
      if (/[\r\n]/.test(String(text))) tell(context, [list, name], 'expected one line')
      check([list, name], text)
    }
  }
}
