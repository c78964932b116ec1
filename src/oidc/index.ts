export { ProviderPeople } from './people.ts'
export { isProviderSignIn, providerRoutes } from './routes.ts'
export { SignIns } from './sign-ins.ts'
