/** Requests to the thread that speaks ONVIF, and its answers: plain data. Texts come from the network, unchecked. */

/** Where a device's ONVIF service is. `host` is an address or a name, without brackets. */
export type OnvifAddress = {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly secure: boolean
}

/** Usual address of the device service of ONVIF cameras; a search may find another one. */
export const usualPlace = { port: 80, path: '/onvif/device_service', secure: false }

export type OnvifCredentials = { readonly username: string; readonly password: string }

export type OnvifTask =
  /** Looks for devices on one network interface, until the thread is ended. */
  | { readonly kind: 'search'; readonly interfaceName: string; readonly seconds: number }
  /** Asks one device for its time alone, which needs no credentials. */
  | { readonly kind: 'clock'; readonly device: OnvifAddress }
  /** Asks one device everything. */
  | { readonly kind: 'ask'; readonly device: OnvifAddress; readonly credentials: OnvifCredentials | null }

/** A device that answered a search. */
export type Sighting = {
  /** The address that the answer came from. */
  readonly from: string
  readonly xaddrs: string
  readonly scopes: string
}

export type OnvifProfile = {
  readonly name: string
  /** Which picture it shows: a recorder has several. */
  readonly source: string
  readonly codec: string
  readonly width: number
  readonly height: number
  readonly picturesPerSecond: number | null
  readonly url: string
}

export type OnvifFailure = 'no-answer' | 'refused' | 'too-large' | 'unreadable'

/** One piece of a device's answer. Each is sent as soon as it is known, so that a later failure does not lose it. */
export type OnvifNews =
  /** The first of all: from here on, a failure is the device's fault. */
  | { readonly kind: 'begun' }
  | { readonly kind: 'sighting'; readonly sighting: Sighting }
  /** Its clock against ours. Null: it names no UTC time. */
  | { readonly kind: 'clock'; readonly aheadSeconds: number | null; readonly roundTripMs: number }
  | { readonly kind: 'model'; readonly manufacturer: string; readonly model: string; readonly firmware: string }
  | { readonly kind: 'profile'; readonly profile: OnvifProfile }
  | { readonly kind: 'failed'; readonly failure: OnvifFailure }
  | { readonly kind: 'done' }
