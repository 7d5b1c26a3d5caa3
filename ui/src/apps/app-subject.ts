/** Origin of a shown app. */
export interface AppSubject {
  server: string;
  tool: string;
  /** URI of the page. */
  uri: string;
  /** Conversation that contains the call, or `null` outside of conversations. */
  conversation: string | null;
}
