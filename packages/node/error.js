export class FlorinError extends Error {
  name = 'FlorinError';

  constructor(code, message, { field, requestId, status, retryAfter, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.field = field;
    this.requestId = requestId;
    this.status = status;
    this.retryAfter = retryAfter;
  }
}
