/** The Debian that is tried: GATEHOUSE_APPLIANCE_SUITE, else Debian 12. */
export const suite = process.env['GATEHOUSE_APPLIANCE_SUITE'] ?? 'bookworm'
