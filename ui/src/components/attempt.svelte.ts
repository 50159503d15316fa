/** Asynchronous work that a part of the page starts, with the message of its failure for that part to show. */
import { errorMessage } from "../bridge";

/** Runs one work after another; `busy` while one is under way, `failure` of the last one, or empty. */
export function createAttempt() {
  let busy = $state(false);
  let failure = $state("");
  return {
    get busy() {
      return busy;
    },
    get failure() {
      return failure;
    },
    clear() {
      failure = "";
    },
    async run(work: () => Promise<void>) {
      busy = true;
      failure = "";
      try {
        await work();
      } catch (error) {
        failure = errorMessage(error);
      }
      busy = false;
    },
  };
}
