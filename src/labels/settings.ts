export type PrinterSettings = {
  readonly name: string
  readonly host: string
  readonly port: number
  readonly dpi: number
  /** Millimetres, as `100x50`; null: that of all labels. */
  readonly size: string | null
  readonly timeout: number
  readonly giveUpAfter: number
}

export type LabelSettings = {
  readonly size: string
  readonly printers: readonly PrinterSettings[]
  /** Numbers for pallets that have none. */
  readonly sscc: { readonly companyPrefix: string; readonly extensionDigit: number } | null
}
