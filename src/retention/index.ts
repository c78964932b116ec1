export { Retention, type RetentionSettings, type Shortfall } from './service.ts'
