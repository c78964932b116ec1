import { z } from 'zod'
import { channelHasServer, channelHasWay, httpHasOneUrl, smtpHidesPassword, templatesFit } from '../alerts/checks.ts'
import { alertKindChoices, severities } from '../alerts/kinds.ts'
import { templateFields } from '../alerts/template.ts'
import { always, distinct } from '../cross-checks.ts'
import {
  duration,
  file,
  host,
  kinds,
  oneOf,
  recordingHours,
  secretFile,
  text,
  textLike,
  url,
  wholeNumber,
} from '../kinds.ts'
import { callers, filledList, id, key, whoIs } from './shared.ts'

const address = () => textLike(/^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,250}$/, 'an e-mail address such as dock@example.com')

const alertKind = () =>
  z
    .string()
    .refine((value) => alertKindChoices.includes(value))
    .register(kinds, {
      name: 'kind of alert',
      expected: 'a kind of alert, such as camera.offline, or camera.* for all of a group',
      choices: alertKindChoices,
    })

const template = () =>
  z.string().min(1).max(16_384).register(kinds, { name: 'template', expected: 'a text of 1 to 16384 characters' })

const smtp = {
  host: key(host(), 'Mail server that takes the messages.', { example: 'mail.example.com' }),
  port: key(wholeNumber(1, 65_535).prefault(587), 'Its port; 465 with security: tls.'),
  security: key(
    oneOf(['starttls', 'tls', 'none']).prefault('starttls'),
    'Encryption. starttls: a server without it gets no mail. tls: from the first byte on. none: in the clear.',
  ),
  username: key(text(256).nullable().prefault(null), 'Account at the mail server; null: no sign-in.', {
    example: 'gatehouse@example.com',
  }),
  passwordFile: key(secretFile().nullable().prefault(null), 'File with the password of the account.', {
    example: 'secrets/smtp',
  }),
  from: key(address(), 'Sender of the messages.', { example: 'gatehouse@example.com' }),
  caFile: key(file().nullable().prefault(null), 'Certificates in PEM to trust for this server beside the public ones.'),
}

const mail = {
  to: key(filledList(address(), 50, 'a list of 1 to 50 addresses'), 'Recipients; each gets a separate message.', {
    example: ['dock@example.com'],
  }),
}

const webPush = {
  people: key(
    callers(),
    `Subscribers that get the messages; empty: each, as far as he or she may see the camera or the alerts. ${whoIs}.`,
    { example: ['device:handheld-7'] },
  ),
}

const fields = `Fields: ${Object.entries(templateFields)
  .map(([name, meaning]) => `{{${name}}} ${meaning}`)
  .join(' · ')}.`

const http = {
  url: key(url(['https', 'http']).nullable().prefault(null), 'Address that gets the messages.', {
    example: 'https://ntfy.example.com/dock',
  }),
  urlFile: key(secretFile().nullable().prefault(null), 'File with that address, where the address itself is a secret.'),
  method: key(oneOf(['POST', 'PUT']).prefault('POST'), 'Method of the request.'),
  headers: key(z.record(z.string(), text(2048)).prefault({}), 'Headers with templates as in body.', {
    example: { Title: '{{title}}', 'Content-Type': 'text/plain; charset=utf-8' },
  }),
  headerFiles: key(
    z.record(z.string(), secretFile()).prefault({}),
    'Headers whose value is a secret: the file of each.',
    {
      example: { Authorization: 'secrets/ntfy' },
    },
  ),
  body: key(template().prefault('{{text}}'), `Template of the body. ${fields} In JSON, put each in quotes.`),
  caFile: key(
    file().nullable().prefault(null),
    'Certificates in PEM to trust for this address beside the public ones.',
  ),
}

const channel = {
  name: key(
    textLike(/^[a-z0-9][a-z0-9-]{0,31}$/, 'a name of 1 to 32 small letters, digits and -'),
    'Name of the channel.',
    {
      example: 'night',
    },
  ),
  mail: key(z.strictObject(mail).nullable().prefault(null), 'Sends by e-mail; needs alerts.smtp.'),
  webPush: key(
    z.strictObject(webPush).nullable().prefault(null),
    'Sends to browsers and handhelds whose users asked for it in the console.',
  ),
  http: key(
    z.strictObject(http).superRefine(httpHasOneUrl, always).superRefine(templatesFit, always).nullable().prefault(null),
    'Sends a request, such as to ntfy, Teams, Slack or PagerDuty.',
  ),
  severities: key(z.array(oneOf(severities)).prefault([]), 'Severities that are sent; empty: all.', {
    example: ['critical'],
  }),
  kinds: key(
    z.array(alertKind()).prefault([]),
    'Kinds of alerts that are sent, such as disk.full or camera.*; empty: all.',
    { example: ['camera.*'] },
  ),
  warehouses: key(
    z.array(id()).prefault([]),
    'Warehouses whose alerts are sent; those of the box count as site.warehouseId. Empty: all, but e-mail and HTTP then name no camera.',
    { example: [1] },
  ),
  hours: key(
    z.array(recordingHours()).prefault([]),
    'Hours of the week, in the time zone of the warehouse, whose alerts are sent; empty: always.',
    { example: ['Mo-Su 22:00-06:00'] },
  ),
  digest: key(
    duration().nullable().prefault(null),
    'Gathers alerts for this long into one message; null: for ten seconds, and at most one message a minute.',
    { example: '1h' },
  ),
  escalateAfter: key(
    duration().nullable().prefault(null),
    'The channel gets an alert only when it is neither acknowledged nor over after this time; null: at once.',
    { example: '15m' },
  ),
}

export const alerts = z
  .strictObject({
    smtp: key(
      z.strictObject(smtp).superRefine(smtpHidesPassword, always).nullable().prefault(null),
      'The mail server; null: no e-mail.',
    ),
    channels: key(
      z
        .array(z.strictObject(channel).superRefine(channelHasWay, always))
        .superRefine(distinct('name'), always)
        .prefault([]),
      'Ways by which alerts reach people.',
      { identity: 'name' },
    ),
  })
  .superRefine(channelHasServer, always)
