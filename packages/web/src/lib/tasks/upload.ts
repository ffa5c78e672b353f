/** Sends a form with a file and tells how far it is: `fetch` does not say how much was sent. */
import { ApiProblem, readProblem } from '../api/problem.ts';
import { sessionEnd } from '../api/session.ts';

interface Given {
  address: string;
  form: FormData;
  /** From 0 to 1. */
  onprogress?: (share: number) => void;
}

interface Sent {
  status: number;
  text: string;
}

const send = ({ address, form, onprogress }: Given) =>
  new Promise<Sent>((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', address);
    request.upload.onprogress = ({ loaded, total }) => {
      if (total > 0) onprogress?.(loaded / total);
    };
    request.onload = () => resolve({ status: request.status, text: request.responseText });
    request.onerror = () =>
      reject(new ApiProblem(0, 'The service does not answer. Look at your connection and try again.'));
    request.send(form);
  });

export async function sendForm<Answer>(given: Given): Promise<Answer> {
  let sent = await send(given);
  const end = sessionEnd();
  if (sent.status === 401 && end) {
    await end.signInAgain();
    sent = await send(given);
  }
  if (sent.status >= 300) throw readProblem(sent.status, sent.text);
  return JSON.parse(sent.text) as Answer;
}
