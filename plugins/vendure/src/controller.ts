import { BadRequestException, Controller, HttpCode, Inject, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { FlorinError, verifyWebhook } from 'florin-server';
import { FLORIN_OPTIONS, type FlorinPluginOptions } from './options';
import { FlorinPayments } from './payments';

@Controller('florin')
export class FlorinController {
  constructor(
    @Inject(FLORIN_OPTIONS) private readonly options: FlorinPluginOptions,
    private readonly payments: FlorinPayments,
  ) {}

  /** A failure after the verification is a 500, and the proxy delivers again. */
  @Post()
  @HttpCode(204)
  async receive(@Req() request: Request) {
    await this.payments.apply(this.verified(request));
  }

  private verified({ body, headers }: Request) {
    try {
      return verifyWebhook(body, headers, this.options.webhookSecret);
    } catch (error) {
      if (error instanceof FlorinError) throw new BadRequestException(error.code);
      throw error;
    }
  }
}
