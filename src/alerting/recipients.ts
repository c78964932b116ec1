import type { ConfigNames } from '../auth/index.ts'
import type { Config } from '../config/index.ts'
import type { ReadTx } from '../database/index.ts'
import { badgeMode } from '../devices/index.ts'
import { durationWords, reasonOf } from '../health/index.ts'
import type { Caller } from '../http/index.ts'
import { type AlertOut, findAlert } from '../webhooks/index.ts'
import type { Links } from './links.ts'
import { type Line, type Message, messageOf } from './message.ts'
import type { Recipient } from './plan.ts'
import { type Channel, isNameless, type Place } from './selection.ts'
import * as store from './store.ts'
import { originOf } from './ways/http.ts'

export type RecipientsNeeds = {
  readonly site: () => Config['site']
  readonly names: ConfigNames
  /** Finds a caller without a credential, with the rights of now. */
  readonly callerNamed: (username: string, instance: string, isDevice: boolean) => Caller | undefined
  readonly placeOf: (tx: ReadTx, alert: Pick<AlertOut, 'kind' | 'subject'>) => Place
  readonly isCameraVisible: (cameraId: number, caller: Caller) => boolean
  readonly links: Links
}

/** Decides who gets a message, and what of it he or she may read. */
export class Recipients {
  readonly #needs: RecipientsNeeds

  constructor(needs: RecipientsNeeds) {
    this.#needs = needs
  }

  /** Returns the recipients of a channel, each with the alerts of the list that it may read. */
  of(tx: ReadTx, channel: Channel, alerts: readonly AlertOut[]): Recipient[] {
    const alertIds = alerts.map(({ id }) => id)
    const subscribers = this.subscribers(tx, channel).flatMap(({ id, caller }) => {
      const seen = alerts.filter((alert) => this.#maySee(tx, caller, alert)).map((alert) => alert.id)
      return seen.length === 0 ? [] : [{ recipient: String(id), alertIds: seen }]
    })
    return [...addressesOf(channel).map((recipient) => ({ recipient, alertIds })), ...subscribers]
  }

  /** Returns the subscriptions of a channel with their owners, as they are now. */
  subscribers(tx: ReadTx, { webPush }: Channel): (store.SubscriptionRow & { readonly caller: Caller })[] {
    return store.allSubscriptions(tx).flatMap((row) => {
      const caller = this.callerOf(row)
      if (!webPush || !caller) return []
      return webPush.people.length === 0 || this.#needs.names.mean(webPush.people, caller) ? [{ ...row, caller }] : []
    })
  }

  /** Returns the owner as now; undefined for a badge, because its handheld may be in other hands. */
  callerOf({ username, instance, is_device }: store.SubscriptionRow): Caller | undefined {
    const caller = this.#needs.callerNamed(username, instance, is_device === 1)
    const isSameKind = (caller?.isDevice ?? false) === (is_device === 1)
    return caller?.authMode === badgeMode || !isSameKind ? undefined : caller
  }

  /**
   * Writes a stored message as its recipient may read it now. Undefined: nothing of it is left for him or her.
   * @param caller the subscriber; undefined for e-mail and HTTP, which have no account
   */
  messageOf(tx: ReadTx, channel: Channel, row: store.MessageRow, caller: Caller | undefined): Message | undefined {
    const { links, site } = this.#needs
    const { id: siteId, url } = site()
    const ids: number[] = JSON.parse(row.alert_ids)
    const alerts = ids
      .flatMap((id) => findAlert(tx, id) ?? [])
      .filter((alert) => caller === undefined || this.#maySee(tx, caller, alert))
    if (alerts.length === 0 && row.about !== 'test') return undefined
    const mayAcknowledge = caller === undefined || mayAct(caller)
    const lines = alerts.map((alert): Line => {
      const isHidden = caller === undefined && isNameless(channel, this.#needs.placeOf(tx, alert))
      const isOpen = row.about === 'raised' && alert.acknowledgedAt === null
      const link = isOpen && mayAcknowledge ? links.linkTo({ alertId: alert.id, channel: channel.name }) : undefined
      return { alert, text: isHidden ? reasonOf(alert.kind) : alert.message, link }
    })
    const isEscalation = channel.escalateAfter !== null && row.about === 'raised'
    return messageOf({
      ...{ messageId: row.message_id, about: row.about, siteId, allAlerts: `${url}/alerts`, lines },
      unacknowledgedFor: isEscalation ? durationWords(channel.escalateAfter ?? 0) : undefined,
    })
  }

  /** Alerts of a camera are for those who see it; all others for those who read alerts. */
  #maySee(tx: ReadTx, caller: Caller, alert: AlertOut): boolean {
    const { cameraId } = this.#needs.placeOf(tx, alert)
    if (cameraId === null) return caller.permissions.has('alerts:read')
    return caller.permissions.has('cameras:read') && this.#needs.isCameraVisible(cameraId, caller)
  }
}

/** Returns the recipients of a channel that have no account: e-mail addresses, and the origin of an HTTP address. */
export const addressesOf = ({ mail, http }: Channel): string[] => [
  ...(mail?.to ?? []),
  ...(http ? [originOf(http)] : []),
]

/** Returns how a stored recipient is reached. */
export const wayOf = (recipient: string): 'webPush' | 'mail' | 'http' =>
  /^\d+$/.test(recipient) ? 'webPush' : recipient.includes('@') ? 'mail' : 'http'

/** Admins and the lead of a shift acknowledge by push. */
const mayAct = ({ permissions }: Caller) => permissions.has('alerts:manage') || permissions.has('events:verify')
