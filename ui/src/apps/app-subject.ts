/** Origin of a shown app. */
export interface AppSubject {
  server: string;
  tool: string;
  /** URI of the page. */
  uri: string;
  /** Conversation that contains the call, or `null` outside of conversations. */
  conversation: string | null;
  /** Item of the finished call in the conversation, if the app was opened for one. */
  item?: string;
}
