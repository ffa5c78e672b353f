/** What is in the manual, in the order in which people need it. */
import type { DefaultTheme } from 'vitepress';

const page = (text: string, link: string): DefaultTheme.SidebarItem => ({ text, link });

export const CONTENTS: DefaultTheme.SidebarItem[] = [
  {
    text: 'Begin',
    items: [
      page('Quick start', '/quick-start'),
      page('Your first hour', '/guide/getting-started'),
      page('Concepts', '/concepts'),
    ],
  },
  {
    text: 'User guide',
    items: [
      page('Overview', '/guide/'),
      page('Finding out what failed', '/guide/finding-failures'),
      page('Images and measurements', '/guide/images-and-measurements'),
      page('Sharing a project', '/guide/sharing'),
      page('Your token and the API', '/guide/api-token'),
      page('The API from Python', '/python'),
      {
        text: 'Ideas',
        collapsed: true,
        items: [
          page('Projects', '/guide/concepts/projects'),
          page('Datasets', '/guide/concepts/datasets'),
          page('Workflows', '/guide/concepts/workflows'),
          page('Tasks', '/guide/concepts/tasks'),
        ],
      },
      {
        text: 'Screens',
        collapsed: true,
        items: [
          page('The list of projects', '/guide/reference/project-overview'),
          page('The page of a project', '/guide/reference/project'),
          page('Datasets and images', '/guide/reference/dataset'),
          page('The workflow page', '/guide/reference/workflow'),
          page('Jobs', '/guide/reference/jobs'),
          page('Tasks and packages', '/guide/reference/task-collection'),
          page('Templates', '/guide/reference/templates'),
        ],
      },
    ],
  },
  {
    text: 'For task authors',
    items: [
      page('Write a task package', '/authors/'),
      page('The manifest', '/authors/manifest'),
      page('Warm start', '/authors/warm-start'),
    ],
  },
  {
    text: 'For operators',
    items: [
      page('Operating the service', '/operate/'),
      page('Installing a release', '/release'),
      page('Sizing', '/operate/sizing'),
      page('PostgreSQL', '/operate/database'),
      page('Web client and reverse proxy', '/operate/proxy'),
      page('External sign-in', '/operate/sign-in'),
      page('A Slurm cluster', '/operate/slurm'),
      page('Jobs on Slurm', '/operate/slurm-jobs'),
      page('Task packages', '/operate/packages'),
      page('systemd and containers', '/operate/systemd'),
      page('Backup and restore', '/operate/backup'),
      page('Upgrade', '/operate/upgrade'),
      page('Monitoring', '/operate/monitoring'),
      page('Logging', '/logging'),
      page('Security model', '/operate/security'),
      page('Moving a deployment', '/operate/moving'),
      page('Settings', '/settings'),
    ],
  },
  {
    text: 'Reference',
    items: [
      page('API conventions', '/api'),
      page('API operations', '/operations/'),
      page('Glossary', '/glossary'),
      page('Architecture', '/architecture'),
      page('The web client inside', '/web'),
      page('Contributing', '/contributing'),
      page('What changed', '/changelog'),
    ],
  },
];
