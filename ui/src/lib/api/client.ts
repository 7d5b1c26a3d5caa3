// Typed API commands. A failed one always rejects with an `ApiError`.
import { platform } from "$lib/platform";

import type { ApiError as ApiErrorData, Commands, ErrorCode } from "./generated";

export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly data: ApiErrorData["data"];
  readonly refusal: ApiErrorData["refusal"];

  constructor(error: ApiErrorData) {
    super(error.message);
    this.name = "ApiError";
    this.code = error.code;
    this.data = error.data;
    this.refusal = error.refusal;
  }
}

/** Sends a command to the host. Commands are defined in `crates/api/src/command_list.rs`. */
export async function call<K extends keyof Commands>(
  name: K,
  request: Commands[K]["request"],
): Promise<Commands[K]["response"]> {
  try {
    return (await platform().call(name, request)) as Commands[K]["response"];
  } catch (cause) {
    throw toApiError(cause);
  }
}

/** Converts any thrown value to an `ApiError`. */
export function toApiError(cause: unknown): ApiError {
  if (cause instanceof ApiError) return cause;
  if (typeof cause === "object" && cause !== null && "code" in cause && "message" in cause) {
    return new ApiError(cause as ApiErrorData);
  }
  const message = cause instanceof Error ? cause.message : String(cause);
  return new ApiError({ code: "internal", message });
}
